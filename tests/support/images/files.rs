//! Pictures as services send them: sound ones, large ones, and ones that lie.
//!
//! Entry functions: [`png`], [`png_with`], [`noise`], [`bomb`], [`jpeg`], [`webp`].

use std::{fs, io::Write, path::Path};

use flate2::{Compression, Crc, write::ZlibEncoder};

/// The word that the metadata of [`jpeg`], [`webp`] and [`marked`] hold.
pub const SECRET: &str = "purple-elephant";
/// First bytes of a PNG.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Width and height of small pictures.
pub const SMALL: (u32, u32) = (32, 24);

/// A small picture with no metadata.
pub fn png() -> Vec<u8> {
    plain(SMALL)
}

/// A picture of this size, with no metadata.
pub fn plain(size: (u32, u32)) -> Vec<u8> {
    png_with(size, &shades(size), &[])
}

/// A small picture with [`SECRET`] in its texts and its Exif.
pub fn marked() -> Vec<u8> {
    let text = format!("Comment\0{SECRET}");
    let exif = [&b"II*\0\x08\0\0\0\0\0\0\0\0\0"[..], SECRET.as_bytes()].concat();
    let more: [(&[u8; 4], &[u8]); 2] = [(b"tEXt", text.as_bytes()), (b"eXIf", &exif)];
    png_with(SMALL, &shades(SMALL), &more)
}

/// A PNG of these RGB bytes, with more chunks before them.
pub fn png_with((width, height): (u32, u32), rgb: &[u8], more: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
    let row = 3 * usize::try_from(width).expect("a small picture");
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::fast());
    for line in rgb.chunks(row) {
        lines.write_all(&[0]).and_then(|()| lines.write_all(line)).expect("memory");
    }
    let mut file = head(width, height);
    for (name, data) in more {
        chunk(&mut file, name, data);
    }
    chunk(&mut file, b"IDAT", &lines.finish().expect("memory"));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// A square picture that no encoder can make smaller: three bytes a pixel.
pub fn noise(side: u32) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    let rgb: Vec<u8> = (0..3 * side * side).map(|_| next()).collect();
    png_with((side, side), &rgb, &[])
}

/// A few bytes that promise a picture of this size.
pub fn bomb((width, height): (u32, u32)) -> Vec<u8> {
    let mut lines = ZlibEncoder::new(Vec::new(), Compression::best());
    lines.write_all(&[0; 64 * 1024]).expect("memory");
    let mut file = head(width, height);
    chunk(&mut file, b"IDAT", &lines.finish().expect("memory"));
    chunk(&mut file, b"IEND", &[]);
    file
}

/// A small JPEG with [`SECRET`] in its comment and its Exif.
pub fn jpeg() -> Vec<u8> {
    stored("ring.jpg")
}

/// A small WebP with [`SECRET`] in its Exif.
pub fn webp() -> Vec<u8> {
    stored("ring.webp")
}

/// Width and height that a PNG says it has; `None`: it is none.
pub fn size_of(file: &[u8]) -> Option<(u32, u32)> {
    let size = file.strip_prefix(SIGNATURE)?.strip_prefix(b"\0\0\0\rIHDR")?;
    let (width, rest) = size.split_first_chunk::<4>()?;
    Some((u32::from_be_bytes(*width), u32::from_be_bytes(*rest.first_chunk::<4>()?)))
}

/// True if these bytes begin like a picture.
pub fn is_picture(file: &[u8]) -> bool {
    file.starts_with(SIGNATURE)
        || file.starts_with(b"\xff\xd8\xff")
        || (file.starts_with(b"RIFF") && file.get(8..12) == Some(b"WEBP".as_slice()))
}

fn stored(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/pictures");
    fs::read(folder.join(name)).expect("a shipped file")
}

/// RGB bytes of a slope from dark to bright.
fn shades((width, height): (u32, u32)) -> Vec<u8> {
    (0..width * height)
        .flat_map(|at| [at.to_le_bytes()[0], (at / 9).to_le_bytes()[0], 40])
        .collect()
}

/// Signature and header of a PNG with eight bits for each of three colours.
fn head(width: u32, height: u32) -> Vec<u8> {
    let mut file = SIGNATURE.to_vec();
    let size = [width.to_be_bytes(), height.to_be_bytes()].concat();
    chunk(&mut file, b"IHDR", &[&size[..], &[8, 2, 0, 0, 0]].concat());
    file
}

fn chunk(file: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    let length = u32::try_from(data.len()).expect("a small chunk");
    let mut sum = Crc::new();
    sum.update(name);
    sum.update(data);
    file.extend(length.to_be_bytes());
    file.extend(name);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}
