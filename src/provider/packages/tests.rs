use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};
use tempfile::TempDir;
use tokio::{
    io::AsyncReadExt,
    time::{Instant, pause},
};

use super::{
    index::{Listed, listed, normalised},
    *,
};
use crate::{
    provider::outbound::Outbound,
    weights::{Digest, Origin, Package, State, WeightFile, WeightSet, Weights},
};

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

#[test]
fn lists_are_read_as_json_and_as_html() {
    let page = url("https://index.example/simple/some-name/");
    let name = "some_name-1.0-py3-none-any.whl";
    let json = r#"{"meta": {}, "files": [
        {"filename": "some_name-0.9.tar.gz", "url": "../../x", "hashes": {}},
        {"filename": "some_name-1.0-py3-none-any.whl", "url": "../../packages/a/some_name-1.0-py3-none-any.whl",
         "hashes": {"sha256": "ab"}, "yanked": false}]}"#;
    let html = r#"<!DOCTYPE html><html><body>
        <a href="../../packages/z/some_name-0.9.tar.gz#sha256=00">some_name-0.9.tar.gz</a>
        <A data-requires-python="&gt;=3.9" HREF='../../packages/a/some_name-1.0-py3-none-any.whl#sha256=ab&amp;x=y'
        >some_name</a></body></html>"#;
    let expected = Listed {
        url: url("https://index.example/packages/a/some_name-1.0-py3-none-any.whl"),
        sha256: Some("ab".to_owned()),
    };
    for text in [json, html] {
        let found = listed(text, &page, name).unwrap();
        assert_eq!(found.as_ref(), Some(&expected), "{text}");
        assert_eq!(listed(text, &page, "other.whl"), Ok(None), "{text}");
    }
    for text in ["", "<html>nothing</html>", "{\"a\": 1}", "{"] {
        assert!(listed(text, &page, name).is_err(), "{text}");
    }
}

#[test]
fn names_are_spelled_as_registries_do() {
    for (name, spelled) in [("Foo.Bar_baz", "foo-bar-baz"), ("a--_b", "a-b"), ("x1", "x1")] {
        assert_eq!(normalised(name), spelled);
    }
}

#[test]
fn addresses_keep_their_logins_to_themselves() {
    let address = RegistryAddress::parse("https://anna:p%40ss@pkg.example/simple/").unwrap();
    assert_eq!(address.url.as_str(), "https://pkg.example/simple/");
    assert_eq!(address.below("a/").as_str(), "https://pkg.example/simple/a/");
    assert!(!format!("{address:?}").contains("p@ss"));
    let sources =
        PackageSources::new(Registries::or_public(Some(address), None, None), BTreeMap::new());
    let login = sources.login(&url("https://pkg.example/files/x.whl")).unwrap();
    assert_eq!((&*login.0, &*login.1.0), ("anna", "p@ss"));
    for elsewhere in ["https://example.com/x", "http://pkg.example/x", "https://pkg.example:8443/x"]
    {
        assert!(sources.login(&url(elsewhere)).is_none(), "{elsewhere}");
    }
    for wrong in ["pypi", "ftp://x/y", "file:///etc/passwd", "http://"] {
        assert!(RegistryAddress::parse(wrong).is_err(), "{wrong}");
    }
    let registries = PackageSources::default().registries;
    assert_eq!(registries.index.url.as_str(), "https://pypi.org/simple");
    assert_eq!(registries.npm.url.as_str(), "https://registry.npmjs.org/");
    assert_eq!(registries.hugging_face.url.as_str(), "https://huggingface.co/");
}

/// Resolves every name to this machine.
#[derive(Default)]
struct Mirror(AtomicUsize);

impl Resolve for Mirror {
    fn resolve(&self, _: Name) -> Resolving {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Port 0 has no listener.
        let here: SocketAddr = ([127, 0, 0, 1], 0).into();
        Box::pin(async move { Ok(Box::new(std::iter::once(here)) as Addrs) })
    }
}

/// A network may resolve the program's own names to a mirror, but no other names of a list.
#[tokio::test]
async fn known_registries_may_resolve_to_local_mirrors() {
    let weights = Weights::new("models".into(), None, Vec::new());
    let set = weights.set("piper-joe").unwrap();
    let other = RegistryAddress::parse("https://pkg.example/simple").unwrap();
    let own = PackageSources::new(Registries::or_public(Some(other), None, None), BTreeMap::new());
    for (sources, address, is_taken) in [
        (&PackageSources::default(), "https://pypi.org/simple/x/", true),
        (&PackageSources::default(), "https://files.pythonhosted.org/x.whl", true),
        (&PackageSources::default(), "http://files.pythonhosted.org/x.whl", false),
        (&PackageSources::default(), "https://files.example/x.whl", false),
        (&own, "https://pkg.example/x.whl", true),
        (&own, "https://files.pythonhosted.org/x.whl", false),
    ] {
        let mirror = Arc::new(Mirror::default());
        let outbound = sources.beside(Outbound::looking_up(Arc::clone(&mirror) as _), set);
        let client = outbound.client(&url(address)).unwrap().no_proxy().build().unwrap();
        let error = client.get(address).send().await.unwrap_err();
        assert!(mirror.0.load(Ordering::SeqCst) > 0, "{address}");
        let mut said = String::new();
        let mut inner: Option<&dyn std::error::Error> = Some(&error);
        while let Some(error) = inner {
            said.push_str(&format!("{error}: "));
            inner = error.source();
        }
        assert_eq!(!said.contains(" resolves to "), is_taken, "{said}");
    }
}

/// Serves `files` by path, answers 404 otherwise, and reports requested paths.
fn server(files: &[(&str, &[u8])]) -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, content)| ((*path).to_owned(), content.to_vec())).collect();
    let (said, asked) = mpsc::channel();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut lines =
                BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let Some(first) = lines.next() else { continue };
            let path = first.split(' ').nth(1).unwrap().to_owned();
            lines.find(String::is_empty);
            let (status, body) = files.get(&path).map_or((404, &[][..]), |body| (200, body));
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            // The client may be gone.
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
            if said.send(path).is_err() {
                return;
            }
        }
    });
    (format!("http://{address}"), asked)
}

fn digest(content: &[u8]) -> Digest {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("x"), content).unwrap();
    Digest::of_file(&folder.path().join("x")).unwrap()
}

const MODEL: &[u8] = b"weights, weights, weights";
const CARD: &str = "a model card\n";

/// The registry has one wheel of the set; two of its files are at the publisher, one in the
/// program.
fn tiny() -> WeightSet {
    let package = |origin, file: &str, content: &[u8]| Package {
        origin,
        file: file.to_owned(),
        bytes: content.len() as u64,
        sha256: digest(content),
    };
    let file = |name: &str, content: &[u8]| WeightFile {
        name: name.to_owned(),
        bytes: content.len() as u64,
        sha256: digest(content),
        parts: vec![format!("tiny/data/{name}")],
    };
    let pypi = Origin::PyPi { name: "tiny".to_owned(), version: "1.0".to_owned() };
    let published = |name: &str| Origin::HuggingFace {
        repository: "someone/tiny",
        path: format!("resolve/abc/{name}"),
    };
    WeightSet {
        name: "tiny".to_owned(),
        purpose: "tests".to_owned(),
        licence: "CC0".to_owned(),
        caveat: None,
        notice: String::new(),
        is_default: false,
        packages: vec![package(pypi, "tiny-1.0-py3-none-any.whl", b"no wheel of ours")],
        files: vec![
            file("model.bin", MODEL),
            file("config.json", b"{}"),
            file("MODEL_CARD", CARD.as_bytes()),
        ],
        published: vec![
            package(published("model.bin"), "model.bin", MODEL),
            package(published("config.json"), "config.json", b"{}"),
            package(Origin::BuiltIn(CARD), "MODEL_CARD", CARD.as_bytes()),
        ],
    }
}

/// Downloads [`tiny`] from these two servers; returns result, progress and folder.
async fn get_tiny(
    index: &str,
    publisher: &str,
    replaced: &[&str],
) -> (Result<PathBuf, GetError>, Vec<Step>, TempDir) {
    let address = |text: &str| RegistryAddress::parse(text).unwrap();
    let registries = Registries::or_public(Some(address(index)), None, Some(address(publisher)));
    let named = replaced.iter().map(|text| address(text)).collect();
    let replaced = if replaced.is_empty() { None } else { Some(("tiny".to_owned(), named)) };
    let sources = PackageSources::new(registries, replaced.into_iter().collect());
    let (place, set) = (tempfile::tempdir().unwrap(), tiny());
    let getting = Getting { sources: &sources, set: &set, folder: place.path().to_owned() };
    let mut steps = Vec::new();
    let got = get_weights(&getting, &mut |step| steps.push(step)).await;
    (got, steps, place)
}

const AT_PUBLISHER: [(&str, &[u8]); 2] = [
    ("/someone/tiny/resolve/abc/model.bin", MODEL),
    ("/someone/tiny/resolve/abc/config.json", b"{}"),
];

#[tokio::test]
async fn vanished_package_comes_from_the_publisher() {
    let (index, _asked) = server(&[]);
    let (publisher, _asked) = server(&AT_PUBLISHER);
    let (got, steps, place) = get_tiny(&index, &publisher, &[]).await;
    let folder = got.unwrap();
    for (name, content) in
        [("model.bin", MODEL), ("config.json", b"{}"), ("MODEL_CARD", CARD.as_bytes())]
    {
        assert_eq!(std::fs::read(folder.join(name)).unwrap(), content, "{name}");
    }
    let manifest = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    assert!(manifest.contains("Hugging Face someone/tiny"), "{manifest}");
    let told = |step: &&Step| {
        matches!(step, Step::Publisher { why, bytes }
        if why.contains("answers with 404") && *bytes == (MODEL.len() + 2 + CARD.len()) as u64)
    };
    assert_eq!(steps.iter().filter(told).count(), 1, "{steps:?}");
    // Counts as the known set, whatever its source.
    let weights = Weights::new(place.path().to_owned(), None, vec![tiny()]);
    assert_eq!(weights.verified(&tiny()), State::Here(folder));
    assert!(!place.path().join(".parts").exists());
}

#[tokio::test]
async fn other_files_of_a_publisher_are_refused() {
    let (index, _asked) = server(&[]);
    let mut spoilt = MODEL.to_vec();
    spoilt[3] ^= 1;
    let (publisher, _asked) = server(&[(AT_PUBLISHER[0].0, &spoilt), AT_PUBLISHER[1]]);
    let (got, _, place) = get_tiny(&index, &publisher, &[]).await;
    let said = got.unwrap_err().to_string();
    assert!(
        said.contains("answers with 404")
            && said.contains("; their publisher: model.bin is not the expected"),
        "{said}"
    );
    assert!(!place.path().join("tiny").exists());
}

#[tokio::test]
async fn source_of_the_operator_is_the_only_one() {
    let (index, _asked) = server(&[]);
    let (publisher, asked) = server(&AT_PUBLISHER);
    let named = format!("{index}/tiny.whl");
    let (got, _, _place) = get_tiny(&index, &publisher, &[&named]).await;
    let said = got.unwrap_err().to_string();
    assert!(said.contains("/tiny.whl answers with 404"), "{said}");
    assert!(asked.try_recv().is_err(), "the publisher was asked");
}

/// Gives up as soon as it is clear that nothing arrives.
#[tokio::test]
async fn silent_publisher_is_given_up_in_seconds() {
    let (index, _asked) = server(&[]);
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let publisher = format!("http://{}", silent.local_addr().unwrap());
    let mut getting = pin!(get_tiny(&index, &publisher, &[]));
    let asked = async {
        let (mut stream, _) = silent.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream
    };
    let _open = tokio::select! {
        stream = asked => stream,
        (got, ..) = &mut getting => panic!("{got:?} before the publisher was asked"),
    };
    pause();
    let paused = Instant::now();
    let (got, _, _place) = getting.await;
    let said = got.unwrap_err().to_string();
    assert!(said.contains("/model.bin cannot be reached"), "{said}");
    assert!(paused.elapsed() < Duration::from_secs(20), "{:?}", paused.elapsed());
}
