use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use reqwest::{
    Url,
    dns::{Addrs, Name, Resolve, Resolving},
};

use super::{
    index::{Listed, listed, normalised},
    *,
};
use crate::{provider::outbound::Outbound, weights::Weights};

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
    let sources = PackageSources::new(Some(address), None, BTreeMap::new());
    let login = sources.login(&url("https://pkg.example/files/x.whl")).unwrap();
    assert_eq!((&*login.0, &*login.1.0), ("anna", "p@ss"));
    for elsewhere in ["https://example.com/x", "http://pkg.example/x", "https://pkg.example:8443/x"]
    {
        assert!(sources.login(&url(elsewhere)).is_none(), "{elsewhere}");
    }
    for wrong in ["pypi", "ftp://x/y", "file:///etc/passwd", "http://"] {
        assert!(RegistryAddress::parse(wrong).is_err(), "{wrong}");
    }
    assert_eq!(PackageSources::default().index.url.as_str(), "https://pypi.org/simple");
}

/// A network that leads every name to this machine.
#[derive(Default)]
struct Mirror(AtomicUsize);

impl Resolve for Mirror {
    fn resolve(&self, _: Name) -> Resolving {
        self.0.fetch_add(1, Ordering::SeqCst);
        // Nobody listens at port 0.
        let here: SocketAddr = ([127, 0, 0, 1], 0).into();
        Box::pin(async move { Ok(Box::new(std::iter::once(here)) as Addrs) })
    }
}

/// A network may have a mirror of its own under the names that the program itself knows, and under no
/// others that a list leads to.
#[tokio::test]
async fn a_mirror_stands_in_for_the_registries_that_are_known() {
    let weights = Weights::new("models".into(), None, Vec::new());
    let set = weights.set("piper-joe").unwrap();
    let other = RegistryAddress::parse("https://pkg.example/simple").unwrap();
    let own = PackageSources::new(Some(other), None, BTreeMap::new());
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
        assert_eq!(!said.contains("where nothing from outside may send us"), is_taken, "{said}");
    }
}
