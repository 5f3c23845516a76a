//! Decompresses bodies of answers within a bound.
//!
//! Entry function: [`decoded`]. **Never**: trusts the size a body claims.

use std::io::Read;

use flate2::read::{DeflateDecoder, GzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use tokio::task::spawn_blocking;

use crate::provider::bounds::Bound;

pub const ACCEPTED: &str = "gzip, deflate";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undecoded {
    Unknown,
    Broken,
    Over,
}

#[derive(Clone, Copy)]
enum Coding {
    Gzip,
    Deflate,
}

pub async fn decoded(
    headers: &HeaderMap,
    body: Vec<u8>,
    bound: Bound,
) -> Result<Vec<u8>, Undecoded> {
    let most = bound.most();
    // An empty body needs no decompression, whatever its header says.
    if body.is_empty() {
        return Ok(body);
    }
    let Some(coding) = coding(headers)? else {
        return if body.len() > most { Err(Undecoded::Over) } else { Ok(body) };
    };
    // Decompressing megabytes would block the runtime.
    let unpacked = spawn_blocking(move || unpacked(coding, &body, most)).await;
    unpacked.unwrap_or(Err(Undecoded::Broken))
}

fn coding(headers: &HeaderMap) -> Result<Option<Coding>, Undecoded> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Ok(None) };
    let value = value.to_str().map_err(|_| Undecoded::Unknown)?.trim().to_ascii_lowercase();
    match value.as_str() {
        "" | "identity" => Ok(None),
        "gzip" | "x-gzip" => Ok(Some(Coding::Gzip)),
        "deflate" => Ok(Some(Coding::Deflate)),
        _ => Err(Undecoded::Unknown),
    }
}

fn unpacked(coding: Coding, body: &[u8], most: usize) -> Result<Vec<u8>, Undecoded> {
    match coding {
        // Like browsers, ignores data after the end.
        Coding::Gzip => read(GzDecoder::new(body), most),
        // Servers send either format under this name.
        Coding::Deflate => match read(ZlibDecoder::new(body), most) {
            Err(Undecoded::Broken) => read(DeflateDecoder::new(body), most),
            answer => answer,
        },
    }
}

fn read(from: impl Read, most: usize) -> Result<Vec<u8>, Undecoded> {
    let mut unpacked = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    from.take(bound).read_to_end(&mut unpacked).map_err(|_| Undecoded::Broken)?;
    if unpacked.len() > most { Err(Undecoded::Over) } else { Ok(unpacked) }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;
    use crate::provider::bounds::PAGE;

    fn named(coding: &'static str) -> HeaderMap {
        [(CONTENT_ENCODING, coding.parse().unwrap())].into_iter().collect()
    }

    fn packed(coding: &str, body: &[u8]) -> Vec<u8> {
        let level = Compression::default();
        match coding {
            "gzip" => {
                let mut out = GzEncoder::new(Vec::new(), level);
                out.write_all(body).unwrap();
                out.finish().unwrap()
            }
            "zlib" => {
                let mut out = ZlibEncoder::new(Vec::new(), level);
                out.write_all(body).unwrap();
                out.finish().unwrap()
            }
            _ => {
                let mut out = DeflateEncoder::new(Vec::new(), level);
                out.write_all(body).unwrap();
                out.finish().unwrap()
            }
        }
    }

    #[tokio::test]
    async fn compressed_bodies_are_unpacked() {
        let body = "words ".repeat(100).into_bytes();
        for (name, coding) in [("gzip", "gzip"), ("deflate", "zlib"), ("deflate", "raw")] {
            let packed = packed(coding, &body);
            assert_eq!(decoded(&named(name), packed, PAGE).await.as_ref(), Ok(&body), "{coding}");
        }
        let plain = decoded(&HeaderMap::new(), body.clone(), PAGE).await;
        assert_eq!(plain, Ok(body));
    }

    #[tokio::test]
    async fn bombs_end_at_the_bound() {
        let bomb = packed("gzip", &vec![b'x'; 1 << 22]);
        assert!(bomb.len() < 1 << 14);
        assert_eq!(decoded(&named("gzip"), bomb, PAGE).await, Err(Undecoded::Over));
        let plain = decoded(&HeaderMap::new(), vec![b'x'; 2_000_001], PAGE).await;
        assert_eq!(plain, Err(Undecoded::Over));
    }

    #[tokio::test]
    async fn damaged_and_unknown_bodies_are_errors() {
        let cut = packed("gzip", b"some words")[..12].to_vec();
        assert_eq!(decoded(&named("gzip"), cut, PAGE).await, Err(Undecoded::Broken));
        for name in ["br", "gzip, gzip"] {
            let body = b"words".to_vec();
            assert_eq!(decoded(&named(name), body, PAGE).await, Err(Undecoded::Unknown), "{name}");
            assert_eq!(decoded(&named(name), Vec::new(), PAGE).await, Ok(Vec::new()), "{name}");
        }
    }

    #[tokio::test]
    async fn bytes_after_the_end_are_left() {
        let padded = [packed("gzip", b"some words"), vec![0; 8]].concat();
        assert_eq!(decoded(&named("gzip"), padded, PAGE).await, Ok(b"some words".to_vec()));
    }
}
