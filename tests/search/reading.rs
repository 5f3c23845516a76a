//! Pages: which may be read, and what is read of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{FAR, Setting, Table, assert_failed, assert_framed, fetching, said, searching};
use crate::support::{
    searches::{Hit, Kind, Searches},
    web_server::{Reply, Request, WebServer},
};

/// A page of the web as it is.
const MILL: &str = "<!doctype html><html><head><title>The Old Mill</title>\
    <style>body { color: red }</style><script>let hidden = 'a script';</script></head><body>\
    <nav><a href=\"/\">Home of all pages</a> <a href=\"/shop\">Buy millstones here</a></nav>\
    <article><h1>The Old Mill</h1><p>The mill has stood by the river for three hundred years, and \
    it grinds the corn of seven villages.</p><p>Its wheel is made of oak &amp; iron; the miller's \
    name is Brann, and he owes the bishop a sack of flour each month.</p></article>\
    <footer>Cookies and imprint of this site</footer></body></html>";
/// Longest that one page may take, with the time of the program itself.
const PATIENCE: Duration = Duration::from_secs(25);

/// A web server of the tests.
fn web(answer: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> WebServer {
    WebServer::start(answer)
}

/// A table that may read the pages of `host` without a search; `proxy` answers for the public web.
fn table(host: &str, proxy: &WebServer) -> Table {
    let more = format!("search: {{ allow: [\"{host}\"] }}\n");
    let searches = Searches::start(Kind::SearXng);
    let setting = Setting { more: &more, ..Setting::default() };
    Table::with(&searches, &setting).behind(proxy)
}

/// The operator's view of a page of the public web that is answered so.
fn read(reply: Reply) -> Value {
    let pages = web(move |_| reply.clone());
    table("1.1.1.1", &pages).reads(&format!("{FAR}/page"))
}

#[test]
fn page_that_was_found_is_read() {
    let pages = web(|_| Reply::html(MILL));
    let url = format!("{FAR}/mill");
    let searches = Searches::finding(Kind::Brave, &[Hit::new("The Old Mill", &url, "Corn.")]);
    let table = Table::of(&searches).behind(&pages);
    let calls = table.calls(&[searching("old mill"), fetching(&url)]);
    assert_eq!(
        (&calls[1]["ok"], &calls[1]["tool"]),
        (&json!(true), &json!("web-search.fetch_page"))
    );
    let text = table.results().pop().expect("a page");
    let parts = ["The Old Mill", &*url, "three hundred years", "oak & iron", "name is Brann"];
    assert_framed(&text, &parts);
    for left_out in ["a script", "color: red", "Buy millstones", "<p>"] {
        assert!(!text.contains(left_out), "{left_out}: {text}");
    }
    let requests = pages.requests();
    let [request] = &*requests else { panic!("{requests:#?}") };
    assert_eq!((&*request.method, request.url.as_str()), ("GET", &*url));
    for private in ["cookie", "authorization", "x-subscription-token", "referer"] {
        assert_eq!(request.header(private), None, "{private}");
    }
}

#[test]
fn fragment_of_an_address_does_not_matter() {
    let pages = web(|_| Reply::html(MILL));
    let url = format!("{FAR}/mill");
    let searches = Searches::finding(Kind::Tavily, &[Hit::new("Mill", &url, "Corn.")]);
    let table = Table::of(&searches).behind(&pages);
    let calls = table.calls(&[searching("old mill"), fetching(&format!("{url}#wheel"))]);
    assert_eq!(calls[1]["ok"], true, "{calls:#?}");
    assert_eq!(pages.asked(), [url]);
}

#[test]
fn page_that_was_never_found_is_refused() {
    let pages = web(|_| Reply::html(MILL));
    let url = format!("{FAR}/mill");
    let searches = Searches::finding(Kind::Brave, &[Hit::new("Mill", &url, "Corn.")]);
    let table = Table::of(&searches).behind(&pages);
    let others =
        [format!("{FAR}/other"), format!("{FAR}/mill?q=secrets"), "http://1.0.0.1/mill".into()];
    for other in &others {
        let calls = table.calls(&[searching("old mill"), fetching(other)]);
        assert_failed(&calls[1], &["search.allow"]);
    }
    // Nor what another session has found.
    let calls = table.calls(&[fetching(&url)]);
    assert_failed(&calls[0], &["search.allow"]);
    assert_eq!(pages.connections(), 0, "{:?}", pages.asked());
}

#[test]
fn allowed_hosts_are_read_without_a_search() {
    let pages = web(|_| Reply::html(MILL));
    let far = table("1.1.1.1", &pages).reads(&format!("{FAR}/mill"));
    assert_eq!(far["ok"], true, "{far:#}");
    assert!(said(&far).contains("three hundred years"), "{far:#}");
    // An address of this network that the operator has written down, with its port.
    let here = pages.origin();
    let near = table(&format!("127.0.0.1:{}", pages.port()), &pages);
    assert_eq!(near.reads(&format!("{here}/mill"))["ok"], true);
    let asked = pages.connections();
    let other = WebServer::silent();
    assert_failed(&near.reads(&format!("{}/mill", other.origin())), &["search.allow"]);
    assert_eq!((other.connections(), pages.connections()), (0, asked));
}

#[test]
fn encodings_of_pages_are_read_right() {
    let page = |head: &str, body: &[u8]| {
        let before = format!("<html><head>{head}<title>Page</title></head><body><p>");
        [before.as_bytes(), body, b", and so on for one more long sentence.</p></body></html>"]
            .concat()
    };
    let wide: Vec<u8> = String::from_utf8(page("", "Brückenzoll für Müller".as_bytes()))
        .expect("text")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    // "ドラゴン" in Shift_JIS, and "Brückenzoll für Müller" in windows-1252.
    let dragon = b"\x83h\x83\x89\x83S\x83\x93";
    let toll = b"Br\xfcckenzoll f\xfcr M\xfcller";
    let cases = [
        ("text/html; charset=windows-1252", page("", toll), "Brückenzoll für Müller"),
        ("text/html", page("<meta charset=\"iso-8859-1\">", toll), "Brückenzoll für Müller"),
        ("text/html", [b"\xff\xfe".to_vec(), wide.clone()].concat(), "Brückenzoll für Müller"),
        ("text/html; charset=utf-16le", wide, "Brückenzoll für Müller"),
        ("text/html; charset=Shift_JIS", page("", dragon), "ドラゴン"),
        ("text/html", page("<meta charset=shift_jis>", dragon), "ドラゴン"),
        ("text/plain; charset=utf-8", "Brückenzoll".into(), "Brückenzoll"),
    ];
    for (content_type, body, text) in cases {
        let call = read(Reply::new(200, content_type, body));
        assert_eq!(call["ok"], true, "{content_type}: {call:#}");
        assert!(said(&call).contains(text), "{content_type}: {call:#}");
    }
}

#[test]
fn compressed_pages_are_read() {
    let call = read(Reply::html(MILL).gzipped());
    assert!(said(&call).contains("three hundred years"), "{call:#}");
}

#[test]
fn long_pages_are_cut_with_a_note() {
    let text = "<p>The mill grinds on and on, through the night and the day.</p>".repeat(2_000);
    let page = format!("<html><title>Long</title><body><article>{text}</article></body></html>");
    let call = read(Reply::html(&page));
    assert_eq!(call["ok"], true, "{call:#}");
    let length = said(&call).chars().count();
    assert!((8_000..14_000).contains(&length), "{length} characters");
}

#[test]
fn pages_that_cannot_be_read_are_errors() {
    let empty =
        "<html><title>App</title><body><div id=root></div><script>run()</script></body></html>";
    let cases: [(Reply, &[&str]); 6] = [
        (Reply::html(empty), &["has no readable text"]),
        (Reply::html(""), &["has no readable text"]),
        (Reply::new(200, "application/pdf", "%PDF-1.7"), &["application/pdf"]),
        (Reply::new(200, "image/png", &b"\x89PNG"[..]), &["image/png"]),
        (Reply::html(MILL).header("content-encoding", "br"), &[]),
        (Reply::text(404, "no such page"), &["404"]),
    ];
    for (reply, parts) in cases {
        assert_failed(&read(reply), parts);
    }
}

#[test]
fn pages_beyond_the_bound_are_errors() {
    let large = format!("<html><body><p>{}</p></body></html>", "word ".repeat(600_000));
    assert!(large.len() > 2_999_999);
    assert_failed(&read(Reply::html(&large)), &["2 MB"]);
    assert_failed(&read(Reply::html(&large).gzipped()), &["2 MB"]);
    let bomb = Reply::html(&"a".repeat(64 << 20)).gzipped();
    assert_failed(&read(bomb), &["2 MB"]);
    assert_failed(&read(Reply::html(&"word ".repeat(20_000)).flooding()), &["2 MB"]);
}

#[test]
fn pathological_html_is_handled_in_time() {
    let nested = format!("<html><body>{}<p>The bottom.", "<div>".repeat(300_000));
    let attributes: String = (0..150_000).map(|number| format!(" a{number}=1")).collect();
    for page in [
        nested,
        "<".repeat(1_500_000),
        "<a b='".repeat(300_000),
        "&".repeat(1_500_000),
        "<ul><li>".repeat(200_000),
        "<b>".repeat(500_000),
        "<p hidden><div>".repeat(100_000),
        format!("<p{attributes}>The bottom."),
    ] {
        let begun = Instant::now();
        let call = read(Reply::html(&page));
        assert!(call["ok"].is_boolean() && !said(&call).contains("8 s"), "{call:#}");
        assert!(begun.elapsed() < PATIENCE, "{:?}: {}", begun.elapsed(), &page[..20]);
    }
}

#[test]
fn pages_that_never_end_have_eight_seconds() {
    for reply in [Reply::html(MILL).held(), Reply::html("<p>a").dripping()] {
        let begun = Instant::now();
        let call = read(reply);
        assert_failed(&call, &["8 s"]);
        assert!(call["ms"].as_f64() < Some(9_500.0), "{call:#}");
        assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    }
}

#[test]
fn redirects_are_followed_five_times() {
    for (hops, works) in [(1, true), (5, true), (6, false)] {
        let pages = web(move |request| {
            let hop: usize = request.url.path().trim_start_matches('/').parse().unwrap_or_default();
            if hop == hops { Reply::html(MILL) } else { Reply::to(&format!("/{}", hop + 1)) }
        });
        let call = table("1.1.1.1", &pages).reads(&format!("{FAR}/0"));
        assert_eq!(call["ok"], works, "{hops}: {call:#}");
        assert_eq!(pages.requests().len(), hops.min(5) + 1, "{:?}", pages.asked());
    }
    let circle = web(|_| Reply::to("/page"));
    let call = table("1.1.1.1", &circle).reads(&format!("{FAR}/page"));
    assert_failed(&call, &["redirect"]);
    assert!(circle.requests().len() <= 6, "{:?}", circle.asked());
}

/// Two pages of which the first redirects to another host.
fn far_away() -> WebServer {
    web(|request| match request.url.path() {
        "/page" => Reply::to("http://1.0.0.1:8080/far").header("set-cookie", "who=us; path=/"),
        _ => Reply::html(MILL),
    })
}

#[test]
fn redirects_carry_nothing_along() {
    let (pages, url) = (far_away(), format!("{FAR}/page"));
    let searches = Searches::finding(Kind::Brave, &[Hit::new("The Old Mill", &url, "Corn.")]);
    let table = Table::of(&searches).behind(&pages);
    let call = table.calls(&[searching("old mill"), fetching(&url)]).remove(1);
    assert_eq!(call["ok"], true, "{call:#}");
    let text = table.results().pop().expect("a page");
    assert!(text.contains("1.0.0.1:8080/far"), "the final address is named: {text}");
    let requests = pages.requests();
    assert_eq!(pages.asked(), [url, "http://1.0.0.1:8080/far".to_owned()]);
    assert!(requests.iter().all(|it| it.header("cookie").is_none()), "{requests:#?}");
}

#[test]
fn allowed_pages_redirect_to_allowed_hosts() {
    let (pages, url) = (far_away(), format!("{FAR}/page"));
    assert_failed(&table("1.1.1.1", &pages).reads(&url), &["1.0.0.1", "search.allow"]);
    assert_eq!(pages.asked(), std::slice::from_ref(&url));
    let both = table("1.1.1.1\", \"1.0.0.1", &pages).reads(&url);
    assert_eq!(both["ok"], true, "{both:#}");
}

/// A proxy resolves names, which hides their addresses.
#[test]
fn allowed_hosts_are_read_through_a_proxy() {
    let (pages, url) = (web(|_| Reply::html(MILL)), "http://srd.example.org/mill");
    let searches = Searches::finding(Kind::Brave, &[Hit::new("The Old Mill", url, "Corn.")]);
    let found = Table::of(&searches).behind(&pages);
    let call = found.calls(&[searching("old mill"), fetching(url)]).remove(1);
    assert_failed(&call, &["proxy", "glyphoxa.yaml"]);
    assert_eq!(pages.connections(), 0);
    let call = table("srd.example.org", &pages).reads(url);
    assert_eq!(call["ok"], true, "{call:#}");
    assert_eq!(pages.asked(), [url]);
}
