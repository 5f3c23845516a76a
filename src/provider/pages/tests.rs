use std::{
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::*;
use crate::provider::outbound::{Outbound, Refused};

/// A server on this machine that gives everybody `answer`, and how many connections it had.
async fn server(answer: Vec<u8>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut request = vec![0; 4096];
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&answer).await;
            });
        }
    });
    (address, connections)
}

/// An answer with this head and body.
fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.into_bytes(), body.to_vec()].concat()
}

/// A page of this type.
fn of_type(mime: &str, body: &[u8]) -> Vec<u8> {
    answer(&format!("200 OK\r\nContent-Type: {mime}"), body)
}

/// Every name leads to this machine.
struct Here;

impl Resolve for Here {
    fn resolve(&self, _: Name) -> Resolving {
        let here = SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 0);
        Box::pin(async move { Ok(Box::new([here].into_iter()) as Addrs) })
    }
}

/// Reads pages past no proxy, and private ones of `allowed` hosts.
fn pages(allowed: &[&str]) -> Pages {
    let allowed = allowed.iter().map(|host| AllowedHost::read(host).unwrap()).collect();
    Pages::new(allowed, "de").through(Outbound::looking_up(Arc::new(Here)).behind(|_| false))
}

/// Result of reading a page from a server on this machine.
async fn read(given: Vec<u8>) -> Result<Page, PageError> {
    let (address, _) = server(given).await;
    let url = Url::parse(&format!("http://{address}/page#part")).unwrap();
    pages(&[&address.to_string()]).read(&url, &|_| true).await
}

#[tokio::test]
async fn page_is_read_with_its_title() {
    let page = "<title>Dragons</title><p>They hoard <b>gold</b>.</p>".as_bytes();
    let page = read(of_type("text/html; charset=utf-8", page)).await.unwrap();
    assert_eq!((page.title.as_str(), page.text.as_str()), ("Dragons", "They hoard gold."));
    assert_eq!((page.url.path(), page.url.fragment(), page.is_cut), ("/page", None, false));
}

#[tokio::test]
async fn plain_text_is_read_as_it_is() {
    let page = read(of_type("text/plain; charset=\"windows-1252\"", b"caf\xe9\n<b>")).await;
    assert_eq!(page.unwrap().text, "café\n<b>");
    let json = read(of_type("application/json", b"{\"a\": 1}")).await;
    assert_eq!(json.unwrap().text, "{\"a\": 1}");
}

#[tokio::test]
async fn long_page_is_cut_with_a_mark() {
    let page = read(of_type("text/plain", "ä".repeat(50_000).as_bytes())).await.unwrap();
    assert!(page.is_cut);
    assert!(page.text.chars().count() <= 12_000 && page.text.len() <= 14_000);
}

#[tokio::test]
async fn pages_without_text_are_errors() {
    let pdf = read(of_type("application/pdf", b"%PDF-1.7")).await;
    assert_eq!(pdf, Err(PageError::NotText("application/pdf".to_owned())));
    let scripts = read(of_type("text/html", b"<script>render()</script>")).await;
    assert_eq!(scripts, Err(PageError::Empty));
    let missing = read(answer("404 Not Found", b"no")).await;
    assert_eq!(missing, Err(PageError::Status("127.0.0.1".to_owned(), 404)));
}

#[tokio::test]
async fn body_over_its_bound_is_an_error() {
    let large = read(of_type("text/plain", &vec![b'x'; 2_000_001])).await;
    assert_eq!(large, Err(PageError::Large));
}

#[tokio::test]
async fn redirect_inside_is_not_connected_to() {
    let (inside, connections) = server(of_type("text/plain", b"secret")).await;
    for to in [format!("http://{inside}/"), format!("http://[::ffff:127.0.0.1]:{}/", inside.port())]
    {
        let read = read(answer(&format!("302 Found\r\nLocation: {to}"), b"")).await;
        assert!(matches!(read, Err(PageError::Refused(Refused::Inside(_)))), "{read:?}");
    }
    let named = format!("http://pages.example.com:{}/", inside.port());
    let read = read(answer(&format!("301 Moved\r\nLocation: {named}"), b"")).await;
    assert!(matches!(read, Err(PageError::Inside(_))), "{read:?}");
    assert_eq!(connections.load(Ordering::Relaxed), 0);
}

/// An open redirect on an allowed host is a way to tell anybody anything.
#[tokio::test]
async fn allowed_page_redirects_to_allowed_hosts() {
    let (far, connections) = server(of_type("text/plain", b"words")).await;
    let to = format!("302 Found\r\nLocation: http://1.1.1.1:{}/?q=secrets", far.port());
    let (near, _) = server(answer(&to, b"")).await;
    let url = Url::parse(&format!("http://{near}/page")).unwrap();
    let read = pages(&[&near.to_string()]).read(&url, &|_| false).await;
    assert_eq!(read, Err(PageError::Elsewhere("1.1.1.1".to_owned())));
    let read = pages(&[]).read(&Url::parse("http://1.1.1.1/").unwrap(), &|_| false).await;
    assert_eq!(read, Err(PageError::Elsewhere("1.1.1.1".to_owned())));
    assert_eq!(connections.load(Ordering::Relaxed), 0);
    let again = server(answer("302 Found\r\nLocation: /page/2", b"")).await.0;
    let url = Url::parse(&format!("http://{again}/page")).unwrap();
    let read = pages(&[&again.to_string()]).read(&url, &|_| false).await;
    assert_eq!(read, Err(PageError::Redirects("127.0.0.1".to_owned())));
}

#[tokio::test]
async fn address_beyond_its_bound_is_an_error() {
    let to = format!("302 Found\r\nLocation: /{}", "a".repeat(2_000));
    assert_eq!(read(answer(&to, b"")).await, Err(PageError::Long("127.0.0.1".to_owned())));
}

#[tokio::test]
async fn redirect_with_a_user_is_refused() {
    let read = read(answer("302 Found\r\nLocation: http://u:p@a.example.com/", b"")).await;
    assert_eq!(read, Err(PageError::Refused(Refused::NamesUser)));
}

#[tokio::test]
async fn redirects_in_a_circle_end() {
    let (address, connections) = server(answer("302 Found\r\nLocation: /again", b"")).await;
    let url = Url::parse(&format!("http://{address}/")).unwrap();
    let read = pages(&[&address.to_string()]).read(&url, &|_| true).await;
    assert_eq!(read, Err(PageError::Redirects("127.0.0.1".to_owned())));
    assert_eq!(connections.load(Ordering::Relaxed), 6);
}

#[tokio::test]
async fn name_that_leads_inside_is_not_connected_to() {
    let (inside, connections) = server(of_type("text/plain", b"secret")).await;
    let url = Url::parse(&format!("http://pages.example.com:{}/", inside.port())).unwrap();
    // The operator allows the name, but not an address that others give it.
    let read = pages(&["pages.example.com"]).read(&url, &|_| true).await;
    assert!(matches!(&read, Err(PageError::Inside(why)) if why.contains("127.0.0.1")), "{read:?}");
    assert_eq!(connections.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn private_page_is_read_only_where_allowed() {
    let (inside, connections) = server(of_type("text/plain", b"secret")).await;
    let url = Url::parse(&format!("http://{inside}/")).unwrap();
    for allowed in [&[][..], &["127.0.0.1"], &["127.0.0.1:1"]] {
        let read = pages(allowed).read(&url, &|_| true).await;
        assert!(matches!(read, Err(PageError::Refused(Refused::Inside(_)))), "{read:?}");
    }
    assert_eq!(connections.load(Ordering::Relaxed), 0);
}
