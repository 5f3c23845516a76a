use reqwest::Url;

use super::{
    index::{Listed, listed, normalised},
    *,
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
    let sources = PackageSources::new(Some(address), None, std::collections::BTreeMap::new());
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
