use std::{
    io::Write,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::{Instant, pause, resume},
};

use super::*;
use crate::provider::{
    outbound::{Outbound, Refused},
    remote::props::endless,
};

/// Serves `answer` on this machine and counts connections.
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

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    let head =
        format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.into_bytes(), body.to_vec()].concat()
}

fn of_type(mime: &str, body: &[u8]) -> Vec<u8> {
    answer(&format!("200 OK\r\nContent-Type: {mime}"), body)
}

/// A compressed HTML page.
fn zipped(page: &str) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(page.as_bytes()).unwrap();
    answer("200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", &packer.finish().unwrap())
}

/// Head of a page without a length.
const BEGUN: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a";

/// Resolves every name to this machine.
struct Here;

impl Resolve for Here {
    fn resolve(&self, _: Name) -> Resolving {
        let here = SocketAddr::new(IpAddr::from([127, 0, 0, 1]), 0);
        Box::pin(async move { Ok(Box::new([here].into_iter()) as Addrs) })
    }
}

/// Ignores proxies; `allowed`: private hosts.
fn pages(allowed: &[&str]) -> Pages {
    let allowed = allowed.iter().map(|host| AllowedHost::read(host).unwrap()).collect();
    Pages::new(allowed, "de").through(Outbound::looking_up(Arc::new(Here)).behind(|_| false))
}

/// Reads a page from a server on this machine.
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
    let text = "<p>The mill grinds on and on, through the night and the day.</p>".repeat(2_000);
    let page = format!("<html><title>Long</title><body><article>{text}</article></body></html>");
    let page = read(of_type("text/html", page.as_bytes())).await.unwrap();
    assert!(page.is_cut && page.text.chars().count() >= 8_000, "{page:?}");
}

#[tokio::test]
async fn encodings_of_pages_are_read_right() {
    let page = |head: &str, body: &[u8]| {
        let before = format!("<html><head>{head}<title>Page</title></head><body><p>");
        [before.as_bytes(), body, b", and so on for one more long sentence.</p></body></html>"]
            .concat()
    };
    let wide: Vec<u8> = String::from_utf8(page("", "Brückenzoll für Müller".as_bytes()))
        .unwrap()
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    // "ドラゴン" in Shift_JIS, and "Brückenzoll für Müller" in windows-1252.
    let dragon = b"\x83h\x83\x89\x83S\x83\x93";
    let toll = b"Br\xfcckenzoll f\xfcr M\xfcller";
    for (mime, body, text) in [
        ("text/html; charset=windows-1252", page("", toll), "Brückenzoll für Müller"),
        ("text/html", page("<meta charset=\"iso-8859-1\">", toll), "Brückenzoll für Müller"),
        ("text/html", [b"\xff\xfe".to_vec(), wide.clone()].concat(), "Brückenzoll für Müller"),
        ("text/html; charset=utf-16le", wide, "Brückenzoll für Müller"),
        ("text/html; charset=Shift_JIS", page("", dragon), "ドラゴン"),
        ("text/html", page("<meta charset=shift_jis>", dragon), "ドラゴン"),
        ("text/plain; charset=utf-8", "Brückenzoll".into(), "Brückenzoll"),
    ] {
        let page = read(of_type(mime, &body)).await.unwrap();
        assert!(page.text.contains(text), "{mime}: {page:?}");
    }
}

#[tokio::test]
async fn compressed_page_is_read() {
    let page = read(zipped("<title>Dragons</title><p>They hoard gold.")).await.unwrap();
    assert_eq!((page.title.as_str(), page.text.as_str()), ("Dragons", "They hoard gold."));
    let unknown = "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br";
    assert_eq!(read(answer(unknown, b"<p>They hoard gold.")).await, Err(PageError::Damaged));
}

#[tokio::test]
async fn pages_without_text_are_errors() {
    let pdf = read(of_type("application/pdf", b"%PDF-1.7")).await;
    assert_eq!(pdf, Err(PageError::NotText("application/pdf".to_owned())));
    let picture = read(of_type("image/png", b"\x89PNG")).await;
    assert_eq!(picture, Err(PageError::NotText("image/png".to_owned())));
    for empty in ["", "<title>App</title><body><div id=root></div><script>render()</script>"] {
        let empty = read(of_type("text/html", empty.as_bytes())).await;
        assert_eq!(empty, Err(PageError::Empty));
    }
    let missing = read(answer("404 Not Found", b"no")).await;
    assert_eq!(missing, Err(PageError::Status("127.0.0.1".to_owned(), 404)));
}

#[tokio::test]
async fn body_over_its_bound_is_an_error() {
    let large = read(of_type("text/plain", &vec![b'x'; 2_000_001])).await;
    assert_eq!(large, Err(PageError::Large));
    let large = format!("<html><body><p>{}</p></body></html>", "word ".repeat(600_000));
    assert_eq!(read(of_type("text/html", large.as_bytes())).await, Err(PageError::Large));
    assert_eq!(read(zipped(&large)).await, Err(PageError::Large));
    assert_eq!(read(zipped(&"a".repeat(64 << 20))).await, Err(PageError::Large), "a bomb");
    assert!(PageError::Large.to_string().contains("2 MB"));
    let (address, _) = endless(BEGUN, &[b'a'; 65_536], Some(Duration::ZERO)).await;
    let url = Url::parse(&format!("http://{address}/page")).unwrap();
    let flood = pages(&[&address.to_string()]).read(&url, &|_| true).await;
    assert_eq!(flood, Err(PageError::Large));
}

#[tokio::test]
async fn page_without_an_end_has_eight_seconds() {
    for each in [None, Some(Duration::from_millis(200))] {
        let (address, begun) = endless(BEGUN, b"a", each).await;
        let url = Url::parse(&format!("http://{address}/page")).unwrap();
        let (pages, found) = (pages(&[&address.to_string()]), |_: &Url| true);
        let started = Instant::now();
        // The remaining time passes at once.
        let (read, ()) = tokio::join!(pages.read(&url, &found), async {
            begun.notified().await;
            pause();
        });
        let took = started.elapsed();
        resume();
        let late = PageError::Late("127.0.0.1".to_owned());
        assert!(late.to_string().contains("8 s"), "{late}");
        assert_eq!(read, Err(late));
        assert!((8..9).contains(&took.as_secs()), "{took:?}");
    }
}

#[tokio::test]
async fn redirect_inside_is_not_connected_to() {
    let (inside, connections) = server(of_type("text/plain", b"secret")).await;
    let port = inside.port();
    for to in [
        format!("http://{inside}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("//127.0.0.1:{port}/"),
        "http://169.254.169.254/latest".to_owned(),
        "http://10.255.255.1/".to_owned(),
    ] {
        let read = read(answer(&format!("302 Found\r\nLocation: {to}"), b"")).await;
        assert!(matches!(read, Err(PageError::Refused(Refused::Inside(_)))), "{to}: {read:?}");
    }
    let file = read(answer("302 Found\r\nLocation: file:///etc/passwd", b"")).await;
    assert_eq!(file, Err(PageError::Refused(Refused::NoWeb("file".to_owned()))));
    let user = format!("302 Found\r\nLocation: http://a:b@127.0.0.1:{port}/");
    let user = read(answer(&user, b"")).await;
    assert_eq!(user, Err(PageError::Refused(Refused::NamesUser)));
    let named = format!("http://pages.example.com:{}/", inside.port());
    let read = read(answer(&format!("301 Moved\r\nLocation: {named}"), b"")).await;
    assert!(matches!(read, Err(PageError::Inside(_))), "{read:?}");
    assert_eq!(connections.load(Ordering::Relaxed), 0);
}

/// An open redirect on an allowed host could leak text anywhere.
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

/// Serves pages 0 to `last`, each redirecting to the next, and counts requests.
async fn chain(last: usize) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut request = vec![0; 4_096];
            let length = stream.read(&mut request).await.unwrap_or_default();
            let request = String::from_utf8_lossy(&request[..length]).into_owned();
            let path = request.split(' ').nth(1).unwrap_or_default();
            let page: usize = path.trim_start_matches('/').parse().unwrap();
            let reply = match page == last {
                true => of_type("text/plain", b"The end."),
                false => answer(&format!("302 Found\r\nLocation: /{}", page + 1), b""),
            };
            let _ = stream.write_all(&reply).await;
        }
    });
    (address, asked)
}

#[tokio::test]
async fn redirects_are_followed_five_times() {
    for (last, works) in [(1, true), (5, true), (6, false)] {
        let (address, asked) = chain(last).await;
        let url = Url::parse(&format!("http://{address}/0")).unwrap();
        let read = pages(&[&address.to_string()]).read(&url, &|_| true).await;
        assert_eq!(read.is_ok(), works, "{last}: {read:?}");
        assert_eq!(asked.load(Ordering::Relaxed), last.min(5) + 1, "{last}");
    }
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
    // The operator allows the name, but not any address it may resolve to.
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
