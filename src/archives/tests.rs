use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{error::ArchiveError, *};

const SMALL: Limits = Limits { members: 4, inflated: 4_000_000, ratio: 200 };

/// Paths and lengths of the members, and what ended it.
#[derive(Debug, Default, PartialEq)]
struct Read {
    members: Vec<(String, usize)>,
    error: Option<ArchiveError>,
}

fn read(bytes: &[u8], limits: &Limits) -> Read {
    let mut read = Read::default();
    let mut each =
        |path: &str, content: Vec<u8>| read.members.push((path.to_owned(), content.len()));
    let ended = zip_members(bytes, limits, &mut each);
    read.error = ended.err();
    read
}

fn error(bytes: &[u8]) -> Option<ArchiveError> {
    read(bytes, &SMALL).error
}

/// A byte of the first entry of the list, changed.
fn with_listed(mut bytes: Vec<u8>, at: usize, change: impl Fn(u8) -> u8) -> Vec<u8> {
    let entry = bytes.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
    bytes[entry + at] = change(bytes[entry + at]);
    bytes
}

#[test]
fn members_come_in_order_without_folders() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_directory("notes", SimpleFileOptions::default()).unwrap();
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    writer.start_file("notes/b.md", stored).unwrap();
    writer.write_all(b"four").unwrap();
    writer.start_file("a\\c.md", stored).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    let found = read(&bytes, &SMALL);
    let members = vec![("notes/b.md".to_owned(), 4), ("a/c.md".to_owned(), 0)];
    assert_eq!(found, Read { members, error: None });
}

#[test]
fn zip_behind_other_data_is_read() {
    let zip = zipped(&[("card.json", b"{}")]);
    let jpeg = [b"\xff\xd8\xff\xe0 a picture".as_slice(), &zip].concat();
    assert!(zip_behind(&jpeg) && !zip_behind(&zip) && !zip_behind(b"\xff\xd8 PK\x05\x06"));
    assert_eq!(read(&jpeg, &SMALL).members, [("card.json".to_owned(), 2)]);
}

#[test]
fn one_member_is_read_without_the_others() {
    let zeros = vec![0; 3 << 20];
    let bytes = zipped(&[("a", &zeros), ("b", b"here"), ("x/b", b"again")]);
    assert_eq!(zip_member(&bytes, &SMALL, "b"), Ok((Some(b"here".to_vec()), 2)));
    assert_eq!(zip_member(&bytes, &SMALL, "c"), Ok((None, 3)));
    assert_eq!(zip_member(&bytes, &SMALL, "a"), Err(ArchiveError::Bomb("a".to_owned())));
    let slip = zipped(&[("b", b"here"), ("../c", b"x")]);
    assert_eq!(zip_member(&slip, &SMALL, "b"), Err(ArchiveError::Outside("../c".to_owned())));
}

#[test]
fn paths_that_lead_outside_are_refused() {
    for path in ["../a", "a/../../b", "/etc/passwd", "..\\a", "C:\\a", "a\\..\\..\\b"] {
        let name = path.replace('\\', "/");
        assert_eq!(error(&zipped(&[(path, b"x")])), Some(ArchiveError::Outside(name)), "{path}");
    }
    assert_eq!(error(&zipped(&[("a..b/...", b"x")])), None);
    // No path would be left.
    assert_eq!(error(&zipped(&[(".", b"x")])), Some(ArchiveError::Outside(".".to_owned())));
}

#[test]
fn dots_in_paths_are_left_out() {
    let found = read(&zipped(&[("./notes//./a.md", b"x")]), &SMALL);
    assert_eq!(found, Read { members: vec![("notes/a.md".to_owned(), 1)], error: None });
}

#[test]
fn link_is_refused_by_name() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("notes.md", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    let bytes = writer.finish().unwrap().into_inner();
    assert_eq!(error(&bytes), Some(ArchiveError::Link("notes.md".to_owned())));
}

#[test]
fn bombs_are_abandoned() {
    let zeros = vec![0; 3 << 20];
    assert_eq!(error(&zipped(&[("a", &zeros)])), Some(ArchiveError::Bomb("a".to_owned())));
    // Each is small enough to be as dense as it likes, all of them are too much.
    let zeros = vec![0; 1 << 20];
    let four: Vec<_> = ["a", "b", "c", "d"].map(|name| (name, zeros.as_slice())).to_vec();
    let found = read(&zipped(&four), &SMALL);
    assert_eq!(found.error, Some(ArchiveError::Inflated(4_000_000)));
    assert_eq!(found.members.len(), 3);
}

#[test]
fn false_sizes_reserve_nothing() {
    // The length that the list says: four bytes from 24.
    let bytes = with_listed(zipped(&[("a", b"hello")]), 27, |_| 0x7f);
    let found = read(&bytes, &SMALL);
    assert!(found.members.iter().all(|(_, length)| *length <= 5), "{found:?}");
}

#[test]
fn too_many_members_are_refused() {
    let five: Vec<_> = ["a", "b", "c", "d", "e"].map(|name| (name, b"".as_slice())).to_vec();
    assert_eq!(read(&zipped(&five), &SMALL).error, Some(ArchiveError::Members(4)));
    // A list beyond the limit of bytes.
    let names: Vec<String> = (0..400).map(|number| format!("{number:01000}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    assert_eq!(read(&zipped(&many), &SMALL).error, Some(ArchiveError::Members(4)));
}

#[test]
fn encrypted_member_is_refused() {
    let bytes = with_listed(zipped(&[("a", b"hello")]), 8, |flags| flags | 1);
    assert_eq!(error(&bytes), Some(ArchiveError::Encrypted("a".to_owned())));
}

#[test]
fn unknown_packing_is_refused_by_name() {
    // 14: LZMA.
    let bytes = with_listed(zipped(&[("a", b"hello")]), 10, |_| 14);
    let found = error(&bytes);
    assert!(matches!(found, Some(ArchiveError::Method(_) | ArchiveError::Broken(_))), "{found:?}");
}

#[test]
fn cut_archive_is_broken() {
    let whole = zipped(&[("a", b"some words"), ("b", b"more words")]);
    for length in [0, 3, whole.len() / 2, whole.len() - 1] {
        let found = error(&whole[..length]);
        assert!(matches!(found, Some(ArchiveError::Broken(_))), "{length}: {found:?}");
    }
}

proptest! {
    #[test]
    fn spoiled_archives_never_panic(
        changes in prop::collection::vec((0_usize..400, any::<u8>()), 0..8),
        cut in 0_usize..400,
    ) {
        let mut bytes = zipped(&[("notes/a.md", b"some words"), ("b.json", b"{\"a\": 1}")]);
        for (at, byte) in changes {
            if let Some(old) = bytes.get_mut(at) {
                *old = byte;
            }
        }
        bytes.truncate(bytes.len().saturating_sub(cut / 20));
        zip_behind(&bytes);
        let found = read(&bytes, &SMALL);
        prop_assert!(found.members.iter().map(|(_, length)| length).sum::<usize>() <= 4_000_000);
    }

    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        zip_behind(&bytes);
        read(&bytes, &SMALL);
        let ended = [b"PK\x05\x06".as_slice(), &bytes].concat();
        zip_behind(&ended);
        read(&ended, &SMALL);
    }
}
