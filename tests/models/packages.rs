//! Packages as registries have them, good ones and others, and what a configuration says about them.

use std::{fmt::Write as _, io::Write as _};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};
use zip::{ZipWriter, write::SimpleFileOptions};

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Bytes that do not deflate to nothing, the same every time.
pub fn weights(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    std::iter::repeat_with(next).take(length).collect()
}

/// A wheel with these files.
pub fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A package of npm with these files.
pub fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// A set as `models.more` has it.
pub struct Set<'a> {
    pub name: &'a str,
    /// From where, and what.
    pub packages: &'a [(&'a str, &'a [u8])],
    /// Name, content, paths in the packages.
    pub files: &'a [(&'a str, &'a [u8], &'a [&'a str])],
}

impl Set<'_> {
    /// An entry of `models.more`.
    pub fn entry(&self) -> String {
        let mut text = format!(
            "    - name: {}\n      purpose: is for tests\n      licence: CC0\n      packages:\n",
            self.name
        );
        for (from, content) in self.packages {
            let (bytes, hash) = (content.len(), sha256(content));
            writeln!(text, "        - {{ from: \"{from}\", bytes: {bytes}, sha256: {hash} }}")
                .unwrap();
        }
        text.push_str("      files:\n");
        for (name, content, parts) in self.files {
            let (bytes, hash) = (content.len(), sha256(content));
            let parts = serde_json::to_string(parts).unwrap();
            writeln!(
                text,
                "        - {{ name: {name}, bytes: {bytes}, sha256: {hash}, parts: {parts} }}"
            )
            .unwrap();
        }
        text
    }
}
