//! Pages: which may be read, and what is read of them; what pages hold, and where they lead, is tested
//! beside their reader.

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
fn page_that_was_never_found_is_refused() {
    let pages = web(|_| Reply::html(MILL));
    let url = format!("{FAR}/mill");
    let searches = Searches::finding(Kind::Brave, &[Hit::new("Mill", &url, "Corn.")]);
    let table = Table::of(&searches).behind(&pages);
    let other = format!("{FAR}/mill?q=secrets");
    let calls = table.calls(&[searching("old mill"), fetching(&other)]);
    assert_failed(&calls[1], &["search.allow"]);
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
}

/// Pages that are hard to read, of up to 1.5 MB, divided by `part`.
fn pathological(part: usize) -> [String; 8] {
    let times = |count: usize| count / part;
    let nested = format!("<html><body>{}<p>The bottom.", "<div>".repeat(times(300_000)));
    let attributes: String = (0..times(150_000)).map(|number| format!(" a{number}=1")).collect();
    [
        nested,
        "<".repeat(times(1_500_000)),
        "<a b='".repeat(times(300_000)),
        "&".repeat(times(1_500_000)),
        "<ul><li>".repeat(times(200_000)),
        "<b>".repeat(times(500_000)),
        "<p hidden><div>".repeat(times(100_000)),
        format!("<p{attributes}>The bottom."),
    ]
}

/// It is read, or an error says why not, within the time that a page has.
#[track_caller]
fn assert_handled(page: &str) {
    let call = read(Reply::html(page));
    assert!(call["ok"].is_boolean() && !said(&call).contains("8 s"), "{call:#}");
}

/// Small enough for a busy machine, and nested far too deep for any stack.
#[test]
fn pathological_html_is_handled() {
    pathological(10).iter().for_each(|page| assert_handled(page));
}

#[test]
fn pathological_html_is_handled_in_time() {
    for page in pathological(1) {
        let begun = Instant::now();
        assert_handled(&page);
        assert!(begun.elapsed() < PATIENCE, "{:?}: {}", begun.elapsed(), &page[..20]);
    }
}

/// Calls for two pages that never end, which are waited for at once.
fn endless() -> [Value; 2] {
    let pages = [Reply::html(MILL).held(), Reply::html("<p>a").dripping()];
    pages.map(|reply| std::thread::spawn(move || read(reply))).map(|it| it.join().expect("a call"))
}

#[test]
fn pages_that_never_end_are_left_in_time() {
    for call in endless() {
        assert_failed(&call, &["8 s"]);
        let took = call["ms"].as_f64().unwrap_or_default();
        assert!((8_000.0..9_500.0).contains(&took), "{call:#}");
    }
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
