//! Clients that attack the listener.

use super::*;

#[tokio::test(start_paused = true)]
async fn slow_head_is_cut_off() {
    let door = Door::new(Bounds::default()).await;
    let (client, task) = door.connect();
    let (mut reader, mut writer) = tokio::io::split(client);
    let drip = async {
        while writer.write_all(b"G").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let began = tokio::time::Instant::now();
    let (said, ()) = tokio::join!(to_the_end(&mut reader), drip);
    task.await.unwrap();
    assert_eq!(said, "");
    assert!(began.elapsed() < Duration::from_secs(8), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn slow_body_is_refused_in_time() {
    let door = Door::new(Bounds::default()).await;
    let (client, task) = door.connect();
    let (mut reader, mut writer) = tokio::io::split(client);
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\nContent-Length: 1000\r\n\r\n",
        door.bearer()
    );
    writer.write_all(head.as_bytes()).await.unwrap();
    let drip = async {
        while writer.write_all(b"[").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let (said, ()) = tokio::join!(to_the_end(&mut reader), drip);
    task.await.unwrap();
    assert_eq!(status(&said), 408, "{said}");
}

#[tokio::test(start_paused = true)]
async fn body_of_100_mb_is_not_read() {
    let door = Door::new(Bounds::default()).await;
    let announced = |path: &str, who: &str| {
        format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\n{who}\r\nContent-Length: 104857600\r\n\r\n"
        )
    };
    for (path, who, expected) in [
        ("/mcp", door.bearer().as_str(), 413),
        ("/mcp", "X-Nobody: 1", 401),
        ("/open", "X-Nobody: 1", 413),
    ] {
        let said = door.says(announced(path, who).as_bytes()).await;
        assert_eq!((status(&said), answers(&said)), (expected, 1), "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn body_without_end_is_cut_off() {
    let door = Door::new(Bounds { body: 10_000, ..Default::default() }).await;
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\nTransfer-Encoding: chunked\r\n\r\n",
        door.bearer()
    );
    let endless = [head.into_bytes(), b"5\r\n[1,2]\r\n".repeat(10_000)].concat();
    let said = door.says(&endless).await;
    assert_eq!((status(&said), answers(&said)), (413, 1), "{said}");
}

#[tokio::test(start_paused = true)]
async fn two_lengths_smuggle_nothing() {
    let door = Door::new(Bounds::default()).await;
    let inner = String::from_utf8(request("GET /mcp", &[&door.bearer()], "")).unwrap();
    let lengths = ["Content-Length: 5", "Content-Length: 6"];
    let chunked = ["Content-Length: 5", "Transfer-Encoding: chunked"];
    let reversed = ["Transfer-Encoding: chunked", "Content-Length: 5"];
    for (headers, expected) in [(lengths, 400), (chunked, 200), (reversed, 200)] {
        let attack = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\n{}\r\n\r\n0\r\n\r\n{inner}",
            door.bearer(),
            headers.join("\r\n")
        );
        let said = door.says(attack.as_bytes()).await;
        assert_eq!((status(&said), answers(&said)), (expected, 1), "{headers:?}: {said}");
    }
}

#[tokio::test(start_paused = true)]
async fn deep_and_wide_json_is_refused() {
    let door = Door::new(Bounds::default()).await;
    for body in ["[".repeat(1_000_000), "{\"a\":".repeat(200_000), "[0,".repeat(300_000)] {
        let said = door.asked("POST /mcp", &body).await;
        assert_eq!(status(&said), 400, "{said}");
    }
    assert_eq!(status(&door.asked("POST /mcp", &"0,".repeat(100_000)).await), 400);
    assert_eq!(status(&door.asked("POST /mcp", &"[".repeat(60)).await), 200);
}

#[tokio::test(start_paused = true)]
async fn bombs_of_headers_are_refused() {
    let door = Door::new(Bounds::default()).await;
    let long = format!("X-Long: {}", "x".repeat(60_000));
    let many: Vec<String> = (0..200).map(|number| format!("X-{number}: 1")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let path = format!("GET /{}", "x".repeat(60_000));
    for attack in [
        request("GET /mcp", &[&door.bearer(), &long], ""),
        request("GET /mcp", &many, ""),
        request(&path, &[&door.bearer()], ""),
    ] {
        let said = door.says(&attack).await;
        assert!([414, 431].contains(&status(&said)), "{said}");
        assert_eq!(answers(&said), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn slow_reader_is_cut_off() {
    let door = Door::new(Bounds::default()).await;
    let (mut client, task) = door.connect();
    client.write_all(&request("GET /large", &[&door.bearer()], "")).await.unwrap();
    // It reads nothing.
    task.await.unwrap();
    assert!(to_the_end(&mut client).await.len() < LARGE / 2);
}

#[tokio::test(start_paused = true)]
async fn dripping_reader_is_cut_off() {
    let door = Door::new(Bounds::default()).await;
    let (mut client, task) = door.connect();
    client.write_all(&request("GET /large", &[&door.bearer()], "")).await.unwrap();
    let mut taken = 0;
    let mut some = vec![0; 4 * 1024];
    while !task.is_finished() {
        tokio::time::sleep(Duration::from_secs(1)).await;
        taken += client.read(&mut some).await.unwrap_or_default();
    }
    assert!(taken < LARGE / 2, "{taken}");
}

#[tokio::test(start_paused = true)]
async fn half_requests_count_for_their_token() {
    let door =
        Door::new(Bounds { running: 2, body_time: PATIENCE * 60, ..Default::default() }).await;
    let half = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\n{}\r\nContent-Length: 1000\r\n\r\n[",
        door.bearer()
    );
    let mut held = Vec::new();
    for _ in 0..2 {
        let (mut client, _task) = door.connect();
        client.write_all(half.as_bytes()).await.unwrap();
        // The answer to one that is let in comes only after its time.
        let early = tokio::time::timeout(Duration::from_secs(1), client.read_u8()).await;
        assert!(early.is_err(), "{early:?}");
        held.push(client);
    }
    assert_eq!(status(&door.asked("GET /mcp", "").await), 429);
}

#[tokio::test]
async fn newcomer_without_a_place_is_told_so() {
    let door = Door::new(Bounds { sockets: 0, ..Default::default() }).await;
    let (address, serving) = door.listens().await;
    let work = async {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(&request("GET /mcp", &[&door.bearer()], "")).await.unwrap();
        let said = to_the_end(&mut client).await;
        assert!(status(&said) == 503 && said.contains("try again"), "{said}");
        drop(client);
        door.shared.stop.cancel();
        serving.await.unwrap();
    };
    tokio::time::timeout(PATIENCE, work).await.unwrap();
}

#[tokio::test]
async fn silent_sockets_keep_nobody_out() {
    let door = Door::new(Bounds { sockets: 8, ..Default::default() }).await;
    let (address, serving) = door.listens().await;
    let work = async {
        let mut silent = Vec::new();
        for _ in 0..40 {
            silent.push(TcpStream::connect(address).await.unwrap());
        }
        let mut client = TcpStream::connect(address).await.unwrap();
        let last = request("GET /mcp", &[&door.bearer(), CLOSE], "");
        client.write_all(&last).await.unwrap();
        assert_eq!(status(&to_the_end(&mut client).await), 200);
        // The first have given way.
        for stream in &mut silent[..32] {
            assert_eq!(to_the_end(stream).await, "");
        }
        door.shared.stop.cancel();
        serving.await.unwrap();
    };
    tokio::time::timeout(PATIENCE, work).await.unwrap();
}
