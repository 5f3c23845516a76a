//! Archives made for tests.

use std::io::{Cursor, Write};

use flate2::{Compression, write::GzEncoder};
use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

/// A ZIP with these files, deflated.
pub fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, options).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn tarred(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, content) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(content.len() as u64);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// A `.tgz` that begins a file of `size` zeros and has `mebibytes` of them.
pub fn tar_bomb(path: &str, size: u64, mebibytes: usize) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let mut header = tar::Header::new_ustar();
    header.set_path(path).unwrap();
    header.set_size(size);
    header.set_cksum();
    encoder.write_all(header.as_bytes()).unwrap();
    for _ in 0..mebibytes {
        encoder.write_all(&vec![0; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap()
}
