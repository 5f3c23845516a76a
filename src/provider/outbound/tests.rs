use std::{
    collections::VecDeque,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{Arc, Mutex},
};

use proptest::prelude::*;
use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use super::{connector::CheckedNames, is_global, is_somebodys, *};
use crate::{extent, provider::address::base_url};

/// Special-purpose ranges as IANA's registries list them, besides wholly reserved ones: written
/// independently of the code.
const SPECIAL: &[&str] = &[
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.88.99.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
    "::/3",
    "4000::/2",
    "8000::/1",
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",
    "3fff::/20",
];

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(it) => u128::from(it.to_bits()),
        IpAddr::V6(it) => it.to_bits(),
    }
}

fn is_within(address: IpAddr, range: &str) -> bool {
    let (start, length) = range.split_once('/').unwrap();
    let start: IpAddr = start.parse().unwrap();
    let width = if start.is_ipv4() { 32 } else { 128 };
    let shift = width - length.parse::<u32>().unwrap();
    start.is_ipv4() == address.is_ipv4() && bits(start) >> shift == bits(address) >> shift
}

fn is_special(address: IpAddr) -> bool {
    SPECIAL.iter().any(|range| is_within(address, range))
}

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

/// Returns each list once, then the last one forever.
struct Answers(Mutex<VecDeque<Vec<IpAddr>>>);

impl Answers {
    fn of(lists: &[&[&str]]) -> Arc<Self> {
        let list = |list: &&[&str]| list.iter().map(|it| it.parse().unwrap()).collect();
        Arc::new(Self(Mutex::new(lists.iter().map(list).collect())))
    }
}

impl Resolve for Answers {
    fn resolve(&self, _: Name) -> Resolving {
        let mut lists = self.0.lock().unwrap();
        let list = if lists.len() > 1 { lists.pop_front() } else { lists.front().cloned() };
        let list = list.unwrap().into_iter().map(|it| SocketAddr::new(it, 0));
        Box::pin(async move { Ok(Box::new(list) as Addrs) })
    }
}

/// Starts a server on this machine and returns its address.
async fn greeter() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await;
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi";
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    address
}

/// The messages of an error, innermost last.
fn said(error: &dyn std::error::Error) -> String {
    let mut said = error.to_string();
    let mut inner = error.source();
    while let Some(error) = inner {
        said.push_str(&format!(": {error}"));
        inner = error.source();
    }
    said
}

/// Body of the response to a request to `url`, or its errors.
async fn sent(outbound: &Outbound, url: &Url) -> Result<String, String> {
    let client = outbound.client(url).map_err(|refused| refused.to_string())?;
    // Ignores the proxy of the machine that runs the test.
    let client = client.no_proxy().build().unwrap();
    let answer = client.get(url.clone()).send().await.map_err(|error| said(&error))?;
    answer.text().await.map_err(|error| said(&error))
}

/// Spellings of IPv4 addresses that some program accepts.
fn spelled() -> impl Strategy<Value = String> {
    let places = prop_oneof![
        Just("127.0.0.1".parse::<Ipv4Addr>().unwrap()),
        Just("169.254.169.254".parse().unwrap()),
        Just("10.1.2.3".parse().unwrap()),
        Just("100.100.100.200".parse().unwrap()),
        any::<u32>().prop_map(Ipv4Addr::from_bits),
    ];
    (places, 0..18_usize).prop_map(|(address, way)| {
        let [a, b, c, d] = address.octets();
        let whole = address.to_bits();
        let digits = |zero: char| -> String {
            let digit = |c: char| match c.to_digit(10) {
                Some(value) => char::from_u32(u32::from(zero) + value).unwrap(),
                None => c,
            };
            address.to_string().chars().map(digit).collect()
        };
        match way {
            0 => address.to_string(),
            1 => whole.to_string(),
            2 => format!("0x{whole:x}"),
            3 => format!("0{whole:o}"),
            4 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
            5 => format!("0x{a:x}.0x{b:x}.{c}.{d}"),
            6 => format!("{a}.{}", whole & 0xff_ffff),
            7 => format!("{a}.{b}.{}", whole & 0xffff),
            8 => format!("{address}."),
            9 => digits('０'),
            10 => digits('𝟎'),
            11 => address.to_string().replace('.', "。"),
            12 => address.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect(),
            13 => format!("[::ffff:{address}]"),
            14 => format!("[64:ff9b::{:x}:{:x}]", whole >> 16, whole & 0xffff),
            15 => format!("[2002:{:x}:{:x}::1]", whole >> 16, whole & 0xffff),
            16 => format!("[64:ff9b:1::{:x}:{:x}]", whole >> 16, whole & 0xffff),
            _ => format!("[::{address}]"),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000 * extent::times()) })]

    #[test]
    fn global_addresses_are_in_no_special_range(four in any::<u32>(), six in any::<u128>(), near in 0..22_usize) {
        let range = SPECIAL[near % SPECIAL.len()];
        let start: IpAddr = range.split_once('/').unwrap().0.parse().unwrap();
        // Random IPv6 addresses miss small ranges, so some are taken near them.
        let beside = match start {
            IpAddr::V4(it) => IpAddr::V4(Ipv4Addr::from_bits(it.to_bits() ^ (four >> 10))),
            IpAddr::V6(it) => IpAddr::V6(Ipv6Addr::from_bits(it.to_bits() ^ (six >> 20))),
        };
        for address in [IpAddr::V4(Ipv4Addr::from_bits(four)), IpAddr::V6(Ipv6Addr::from_bits(six)), beside] {
            prop_assert_eq!(is_global(address), !is_special(address), "{}", address);
            prop_assert!(is_somebodys(address) || !is_global(address), "{}", address);
        }
    }

    #[test]
    fn accepted_hosts_are_global_in_any_spelling(host in spelled(), tail in "(:[0-9]{1,4})?(/[a-z]{0,3})?") {
        let text = format!("http://{host}{tail}");
        let Ok(url) = Url::parse(&text) else { return Ok(()) };
        if Outbound::public().check(&url).is_ok() {
            // The client connects to such a host without resolving it.
            let host = url.host_str().unwrap().trim_matches(['[', ']']);
            prop_assert!(host.parse().is_ok_and(|it: IpAddr| !is_special(it)), "{}", text);
        }
        // The client reads an address of the configuration as it is written.
        if base_url(&text).is_ok() {
            let meant = host.trim_matches(['[', ']']).parse::<IpAddr>();
            let read = url.host_str().unwrap().trim_matches(['[', ']']).parse::<IpAddr>();
            prop_assert!(meant.is_ok() && meant == read, "{}", text);
        }
    }

    #[test]
    fn any_text_is_judged_and_nothing_special_passes(text in "\\PC{0,60}") {
        for text in [text.clone(), format!("http://{text}"), format!("https://{text}/")] {
            let _ = base_url(&text);
            let Ok(url) = Url::parse(&text) else { continue };
            if Outbound::public().check(&url).is_ok() {
                let host = url.host_str().unwrap().trim_matches(['[', ']']);
                prop_assert!(host.parse().map_or(true, |it: IpAddr| !is_special(it)), "{}", text);
            }
        }
    }

    #[test]
    fn no_name_leads_anywhere_special(list in prop::collection::vec(any::<u32>(), 1..6), inside in any::<bool>()) {
        let mut list: Vec<IpAddr> = list.into_iter().map(|it| Ipv4Addr::from_bits(it).into()).collect();
        if inside {
            list.push("::ffff:127.0.0.1".parse().unwrap());
        }
        let names = CheckedNames {
            names: Arc::new(Answers(Mutex::new([list.clone()].into()))),
            allows: is_global,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(names.resolve("a.example".parse().unwrap()));
        match found {
            Ok(found) => prop_assert!(found.into_iter().all(|it| !is_special(it.ip()))),
            Err(error) => {
                prop_assert!(list.iter().all(|it| is_special(*it)), "{}", error);
            }
        }
    }
}

#[test]
fn ways_to_write_what_is_inside_are_refused() {
    let public = Outbound::public();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "①②⑦.⓪.⓪.①",
        "%31%32%37.%30.%30.%31",
        "127.0.0.1.",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "a.localhost",
        "nas.local",
        "router",
        "metadata.google.internal",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.170",
        "198.18.0.1",
        "255.255.255.255",
        "224.0.0.1",
        "0.0.0.0",
        "[::]",
        "[::1]",
        "[::ffff:10.0.0.1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::a00:1]",
        "[2002:7f00:1::]",
        "[2001:0:1::1]",
        "[fd00::1]",
        "[fe80::1]",
        "[ff02::1]",
        "[2001:db8::1]",
    ] {
        let refused = public.check(&url(&format!("http://{host}:8080/a")));
        assert!(matches!(refused, Err(Refused::Inside(_))), "{host}: {refused:?}");
    }
    assert_eq!(public.check(&url("ftp://a.example")), Err(Refused::NoWeb("ftp".into())));
    assert_eq!(public.check(&url("https://a@b.example")), Err(Refused::NamesUser));
    for good in ["https://tools.example.com/mcp", "http://1.1.1.1", "http://[2606:4700::1111]"] {
        assert_eq!(public.check(&url(good)), Ok(()), "{good}");
    }
}

#[test]
fn own_address_permits_only_its_origin() {
    let own = Outbound::public().and(&url("http://127.0.0.1:80/a"));
    assert_eq!(own.check(&url("http://127.0.0.1/other")), Ok(()));
    for other in ["https://127.0.0.1:80", "http://127.0.0.1:81", "http://127.0.0.2", "http://[::1]"]
    {
        assert!(own.check(&url(other)).is_err(), "{other}");
    }
    let here = Outbound::public().and_neighbours_of(&url("http://localhost:1/mcp"));
    assert_eq!(here.check(&url("http://[::1]:7")), Ok(()));
    assert!(here.check(&url("http://10.0.0.1")).is_err());
    let elsewhere = Outbound::public().and_neighbours_of(&url("http://10.0.0.1/mcp"));
    assert!(elsewhere.check(&url("http://10.0.0.2")).is_err());
}

#[tokio::test]
async fn name_that_leads_inside_is_not_connected_to() {
    let server = greeter().await;
    let asked = url(&format!("http://tools.example.com:{}/", server.port()));
    for list in [&["127.0.0.1"][..], &["127.0.0.1", "10.0.0.1"], &["::ffff:127.0.0.1"]] {
        let public = Outbound::looking_up(Answers::of(&[list]));
        let said = sent(&public, &asked).await.unwrap_err();
        assert!(said.contains("'tools.example.com' resolves to "), "{said}");
    }
    // A name of the operator may resolve to a private address.
    let own = Outbound::looking_up(Answers::of(&[&["127.0.0.1"]])).and(&asked);
    assert_eq!(sent(&own, &asked).await.as_deref(), Ok("hi"));
    // Clouds serve credentials at this address.
    let own = Outbound::looking_up(Answers::of(&[&["169.254.169.254"]])).and(&asked);
    let said = sent(&own, &asked).await.unwrap_err();
    assert!(said.contains("resolves to 169.254.169.254"), "{said}");
}

#[tokio::test]
async fn dns_rebinding_is_refused_on_the_next_lookup() {
    let server = greeter().await;
    let asked = url(&format!("http://rebound.example.com:{}/", server.port()));
    let own = Outbound::looking_up(Answers::of(&[&["127.0.0.1"], &["169.254.169.254"]]));
    let client = own.and(&asked).client(&asked).unwrap().no_proxy().build().unwrap();
    let answer = client.get(asked.clone()).send().await.unwrap();
    assert_eq!(answer.remote_addr(), Some(server));
    let second = said(&client.get(asked.clone()).send().await.unwrap_err());
    assert!(second.contains("resolves to 169.254.169.254"), "{second}");
}

#[tokio::test]
async fn proxy_is_handed_no_name_that_others_chose() {
    let found = Answers::of(&[&["10.0.0.7"]]);
    let outbound = Outbound::looking_up(found).behind(|_| true);
    let inside = url("http://inside.example.com/x");
    let refused = Refused::Proxied("inside.example.com".to_owned());
    assert_eq!(outbound.check(&inside), Err(refused.clone()));
    assert_eq!(outbound.client(&inside).map(drop), Err(refused.clone()));
    assert!(refused.to_string().contains("NO_PROXY"), "{refused}");
    // An IP address needs no resolving, and a configured one is the operator's.
    assert_eq!(outbound.check(&url("http://1.1.1.1/x")), Ok(()));
    assert_eq!(outbound.and(&inside).check(&inside), Ok(()));
}
