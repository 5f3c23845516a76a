//! Ends of connections and of the listener.

use tokio::sync::Notify;

use super::*;

/// Notifies once the work of a route is dropped.
struct Gone(Arc<Notify>);

impl Drop for Gone {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// A route that notifies `began`, and ends by `go` or when cancelled.
fn slow(began: &Arc<Notify>, go: &Arc<Notify>, gone: &Arc<Notify>) -> Router {
    let (began, go, gone) = (Arc::clone(began), Arc::clone(go), Arc::clone(gone));
    let work = move || async move {
        let _gone = Gone(gone);
        began.notify_one();
        go.notified().await;
        "done"
    };
    Router::new().route("/slow", get(work))
}

#[tokio::test(start_paused = true)]
async fn request_under_way_is_answered_at_the_end() {
    let [began, go, gone] = [(); 3].map(|()| Arc::new(Notify::new()));
    let door = Door::with(Bounds::default(), slow(&began, &go, &gone)).await;
    let (mut client, task) = door.connect();
    client.write_all(&request("GET /slow", &[&door.bearer()], "")).await.unwrap();
    began.notified().await;
    door.shared.stop.cancel();
    go.notify_one();
    let said = to_the_end(&mut client).await;
    assert!(said.ends_with("done"), "{said}");
    task.await.unwrap();
}

#[tokio::test]
async fn listener_cancels_what_does_not_end() {
    let [began, go, gone] = [(); 3].map(|()| Arc::new(Notify::new()));
    let bounds = Bounds { end: Duration::from_millis(50), ..Default::default() };
    let door = Door::with(bounds, slow(&began, &go, &gone)).await;
    let (address, serving) = door.listens().await;
    let work = async {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(&request("GET /slow", &[&door.bearer()], "")).await.unwrap();
        began.notified().await;
        door.shared.stop.cancel();
        serving.await.unwrap();
        gone.notified().await;
        assert_eq!(to_the_end(&mut client).await, "");
        assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
    };
    tokio::time::timeout(PATIENCE, work).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn client_that_leaves_cancels_its_request() {
    let [began, go, gone] = [(); 3].map(|()| Arc::new(Notify::new()));
    let door = Door::with(Bounds::default(), slow(&began, &go, &gone)).await;
    let (mut client, _task) = door.connect();
    client.write_all(&request("GET /slow", &[&door.bearer()], "")).await.unwrap();
    began.notified().await;
    drop(client);
    gone.notified().await;
}

async fn breaks() -> &'static str {
    panic!("a fault of a route")
}

#[tokio::test]
async fn panic_costs_its_connection_alone() {
    let door = Door::with(Bounds::default(), Router::new().route("/breaks", get(breaks))).await;
    let (address, serving) = door.listens().await;
    let ask = async |path: &str| {
        let mut client = TcpStream::connect(address).await.unwrap();
        let last = request(&format!("GET {path}"), &[&door.bearer(), CLOSE], "");
        client.write_all(&last).await.unwrap();
        to_the_end(&mut client).await
    };
    let work = async {
        let (broken, whole) = (ask("/breaks").await, ask("/mcp").await);
        door.shared.stop.cancel();
        serving.await.unwrap();
        (broken, status(&whole))
    };
    let said = tokio::time::timeout(PATIENCE, work).await.unwrap();
    assert_eq!(said, (String::new(), 200));
}
