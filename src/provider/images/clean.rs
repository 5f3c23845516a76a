//! Answers of picture services: token counts, and files, which are decoded and re-encoded.
//!
//! Entry functions: [`parsed`], [`picture`], [`used`]. **Never**: trusts a declared type, decodes
//! before it knows the size, or decompresses profiles and texts of a PNG, which may expand a
//! thousandfold.

use std::{
    borrow::Cow,
    io::{self, Cursor, Write},
    sync::Arc,
};

use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits,
    codecs::{jpeg::JpegEncoder, png::PngEncoder},
};
use serde_json::Value;
use tokio::{sync::Semaphore, task::spawn_blocking};

use crate::{
    logic::budget::Consumption,
    provider::{Bound, Kind, NoPicture, Picture, bounds::VALUES, remote::Endpoint},
};

/// Pixels of the largest picture.
const PIXELS_MAX: u64 = 16_000_000;
/// Pixels.
const SIDE_MAX: u32 = 16_384;
/// Bytes of the largest picture at 8 bits per channel.
const DECODED_MAX: u64 = 4 * PIXELS_MAX;
/// Bytes for decoding: the pixels, and as much for buffers.
const DECODING_MAX: u64 = 2 * DECODED_MAX;
const PNG_HEAD: usize = 8;
/// Chunks of a PNG needed to show it.
const CHUNKS: [&[u8; 4]; 5] = [b"IHDR", b"PLTE", b"tRNS", b"IDAT", b"IEND"];
/// Bytes.
const SHOWN_MAX: usize = 8 << 20;
/// JPEG qualities to try if the PNG is too large, the best first.
const QUALITIES: [u8; 3] = [90, 75, 50];

/// Decodes one picture at a time: a large one takes 150 MB with its encoding.
static DECODING: Semaphore = Semaphore::const_new(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPicture {
    /// Its first bytes match no known format.
    #[error("the file is no PNG, JPEG or WebP")]
    Kind,
    #[error("the file is damaged")]
    Damaged,
    #[error("{0} x {1} pixels are too many (16 megapixels at most, 16,384 a side)")]
    Large(u32, u32),
    /// Too much memory, because its channels have 16 bits.
    #[error("{0} x {1} pixels of 16 bits a channel are too many (8 megapixels at most)")]
    Deep(u32, u32),
    #[error("the picture exceeds 8 MiB")]
    Heavy,
    /// The program is shutting down, or decoding crashed.
    #[error("decoding failed")]
    Failed,
}

/// Re-encodes `bytes` as a PNG without metadata, or as a JPEG where that exceeds 8 MiB; returns it
/// with its MIME type. Decodes off the runtime. Cancel safe.
pub async fn cleaned(bytes: Vec<u8>) -> Result<(Arc<[u8]>, &'static str), BadPicture> {
    let permit = DECODING.acquire().await.map_err(|_| BadPicture::Failed)?;
    let done = spawn_blocking(move || {
        let _permit = permit;
        encoded(decoded(&bytes)?, SHOWN_MAX)
    });
    done.await.unwrap_or(Err(BadPicture::Failed))
}

fn decoded(bytes: &[u8]) -> Result<DynamicImage, BadPicture> {
    let kind = image::guess_format(bytes).map_err(|_| BadPicture::Kind)?;
    if !matches!(kind, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP) {
        return Err(BadPicture::Kind);
    }
    let bytes: Cow<'_, [u8]> = match kind {
        ImageFormat::Png => Cow::Owned(plain_png(bytes)),
        _ => Cow::Borrowed(bytes),
    };
    let reader = || {
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(DECODING_MAX);
        let mut reader = ImageReader::with_format(Cursor::new(&*bytes), kind);
        reader.limits(limits);
        reader
    };
    let header = reader().into_decoder().map_err(|_| BadPicture::Damaged)?;
    let ((width, height), size) = (header.dimensions(), header.total_bytes());
    drop(header);
    let is_large = u64::from(width) * u64::from(height) > PIXELS_MAX;
    if is_large || width.max(height) > SIDE_MAX {
        return Err(BadPicture::Large(width, height));
    }
    if size > DECODED_MAX {
        return Err(BadPicture::Deep(width, height));
    }
    reader().decode().map_err(|_| BadPicture::Damaged)
}

/// Removes the chunks of a PNG that are not needed to show it.
fn plain_png(file: &[u8]) -> Vec<u8> {
    let (head, mut rest) = file.split_at(PNG_HEAD.min(file.len()));
    let mut plain = head.to_vec();
    // Length and kind, content, checksum.
    while let Some((&[a, b, c, d, ref kind @ ..], _)) = rest.split_first_chunk::<8>() {
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        let end = length.saturating_add(12).min(rest.len());
        let (chunk, after) = rest.split_at(end);
        if CHUNKS.contains(&kind) {
            plain.extend_from_slice(chunk);
        }
        rest = after;
    }
    plain
}

fn encoded(picture: DynamicImage, max: usize) -> Result<(Arc<[u8]>, &'static str), BadPicture> {
    let is_clear = picture.color().has_alpha();
    // 8 bits per channel are enough for viewing.
    let plain = match is_clear {
        true => DynamicImage::from(picture.into_rgba8()),
        false => DynamicImage::from(picture.into_rgb8()),
    };
    let mut file = Within { bytes: Vec::new(), most: max, is_over: false };
    let written = plain.write_with_encoder(PngEncoder::new(&mut file));
    if !file.is_over {
        written.map_err(|_| BadPicture::Failed)?;
        return Ok((file.bytes.into(), "image/png"));
    }
    drop(file);
    let opaque = plain.into_rgb8();
    for quality in QUALITIES {
        let mut file = Vec::new();
        JpegEncoder::new_with_quality(&mut file, quality)
            .encode_image(&opaque)
            .map_err(|_| BadPicture::Failed)?;
        if file.len() <= max {
            return Ok((file.into(), "image/jpeg"));
        }
    }
    Err(BadPicture::Heavy)
}

/// A writer with a size limit.
struct Within {
    bytes: Vec<u8>,
    most: usize,
    is_over: bool,
}

impl Write for Within {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.is_over |= self.bytes.len() + bytes.len() > self.most;
        if self.is_over {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Fewest plausible output tokens for a picture.
const FEWEST_TOKENS: u64 = 64;
/// Most plausible output tokens for a picture.
const MOST_TOKENS: u64 = 200_000;

/// Parses an answer and applies `read`; the default if it is no JSON. Runs off the runtime, because
/// pictures are large. Fails if the answer has too many values. Cancel safe.
pub async fn parsed<T: Default + Send + 'static>(
    bytes: Vec<u8>,
    read: impl FnOnce(&Value) -> T + Send + 'static,
) -> Result<(Value, T), Bound> {
    let work = move || {
        VALUES.check_values(&bytes)?;
        let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let found = read(&answer);
        Ok((answer, found))
    };
    spawn_blocking(work).await.unwrap_or_else(|_| Ok(Default::default()))
}

/// Use for pictures or a refusal, without implausible counts.
pub fn used(pictures: u64, input_tokens: Option<u64>, output_tokens: Option<u64>) -> Consumption {
    let counted = input_tokens.unwrap_or_default().min(MOST_TOKENS);
    let made = output_tokens.unwrap_or_default();
    let is_credible = pictures == 0 || (FEWEST_TOKENS..=MOST_TOKENS).contains(&made);
    let output_tokens = if is_credible { made.min(MOST_TOKENS) } else { 0 };
    Consumption { pictures, input_tokens: counted, output_tokens, ..Consumption::default() }
}

/// Re-encodes `bytes`. A file that is no picture within the bounds is a [`Kind::Protocol`] error.
pub async fn picture(
    endpoint: &Endpoint,
    bytes: Vec<u8>,
    used: Consumption,
) -> Result<Picture, NoPicture> {
    match cleaned(bytes).await {
        Ok((bytes, mime)) => Ok(Picture { bytes, mime, used }),
        Err(why) => {
            let why = format!("no usable picture: {why}");
            Err(endpoint.peer.error(Kind::Protocol, &why, "try another model").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use flate2::Crc;
    use image::{Rgb, RgbImage, Rgba, RgbaImage};

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let pixels = RgbImage::from_pixel(width, height, Rgb([200, 30, 30]));
        pixels.write_to(&mut file, ImageFormat::Png).unwrap();
        file.into_inner()
    }

    fn with_text(file: &[u8], text: &[u8]) -> Vec<u8> {
        with_chunk(file, b"tEXt", text)
    }

    fn with_chunk(file: &[u8], kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
        let header = 8 + 25;
        let mut chunk = u32::try_from(content.len()).unwrap().to_be_bytes().to_vec();
        let body = [kind.as_slice(), content].concat();
        chunk.extend_from_slice(&body);
        let mut crc = Crc::new();
        crc.update(&body);
        chunk.extend_from_slice(&crc.sum().to_be_bytes());
        [&file[..header], &chunk, &file[header..]].concat()
    }

    #[tokio::test]
    async fn metadata_is_left_out() {
        let file = with_text(&png(4, 3), b"parameters\0the hidden vault");
        assert!(file.windows(5).any(|part| part == b"vault"));
        let (clean, mime) = cleaned(file).await.unwrap();
        assert_eq!(mime, "image/png");
        assert!(!clean.windows(5).any(|part| part == b"vault"));
        assert_eq!(decoded(&clean).unwrap().to_rgb8().dimensions(), (4, 3));
    }

    #[tokio::test]
    async fn image_format_is_detected_from_bytes() {
        for kind in [ImageFormat::Jpeg, ImageFormat::WebP] {
            let mut file = Cursor::new(Vec::new());
            decoded(&png(8, 8)).unwrap().write_to(&mut file, kind).unwrap();
            assert_eq!(cleaned(file.into_inner()).await.unwrap().1, "image/png");
        }
        for none in ["", "GIF89a", "<svg/>", "<html>no</html>", "\u{89}PNG"] {
            assert_eq!(cleaned(none.into()).await, Err(BadPicture::Kind), "{none}");
        }
        let cut = png(64, 64);
        assert_eq!(cleaned(cut[..40].to_vec()).await, Err(BadPicture::Damaged));
    }

    #[tokio::test]
    async fn compressed_metadata_is_not_unpacked() {
        let file = png(4, 3);
        // Data after the names would be decompressed.
        let bomb = [b"ICC\0\0".as_slice(), &[0x78, 0x9C], &[0; 4_096]].concat();
        for kind in [b"iCCP", b"zTXt", b"iTXt", b"eXIf", b"fdAT"] {
            let odd = with_chunk(&file, kind, &bomb);
            assert_eq!(plain_png(&odd), file, "{kind:?}");
            assert_eq!(cleaned(odd).await.unwrap().1, "image/png");
        }
        let mut clear = Cursor::new(Vec::new());
        RgbaImage::from_pixel(2, 2, Rgba([9, 9, 9, 0]))
            .write_to(&mut clear, ImageFormat::Png)
            .unwrap();
        assert_eq!(plain_png(clear.get_ref()), *clear.get_ref());
        // A truncated chunk is damage; a false length ends the file.
        assert_eq!(plain_png(&file[..50]), file[..50]);
        let endless = with_chunk(&file, b"IDAT", b"");
        let lie = [&endless[..33], &[0xFF; 4], &endless[37..]].concat();
        assert_eq!(cleaned(lie).await, Err(BadPicture::Damaged));
    }

    #[tokio::test]
    async fn deep_picture_is_refused_before_decoding() {
        // A small file whose header claims 4,000 x 4,000 with 16 bits per channel.
        let mut file = png(4, 4);
        let side = 4_000_u32.to_be_bytes();
        file[16..24].copy_from_slice(&[side, side].concat());
        file[24] = 16;
        let mut crc = Crc::new();
        crc.update(&file[12..29]);
        file[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        assert_eq!(cleaned(file).await, Err(BadPicture::Deep(4_000, 4_000)));
    }

    #[tokio::test]
    async fn bomb_is_refused_before_decoding() {
        // A small file whose header claims 60,000 x 60,000.
        let mut file = png(4, 4);
        let side = 60_000_u32.to_be_bytes();
        file[16..24].copy_from_slice(&[side, side].concat());
        let mut crc = Crc::new();
        crc.update(&file[12..29]);
        file[29..33].copy_from_slice(&crc.sum().to_be_bytes());
        assert_eq!(cleaned(file).await, Err(BadPicture::Large(60_000, 60_000)));
        assert_eq!(cleaned(png(16_385, 1)).await, Err(BadPicture::Large(16_385, 1)));
    }

    #[test]
    fn heavy_picture_becomes_a_jpeg() {
        let mut state = 1_u32;
        let noise = RgbImage::from_fn(200, 200, |_, _| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let [a, b, c, _] = state.to_be_bytes();
            Rgb([a, b, c])
        });
        // A hundredth of the pixels and bytes; `tests/pictures` uses full size.
        let max = SHOWN_MAX / 100;
        let (file, mime) = encoded(noise.into(), max).unwrap();
        assert_eq!(mime, "image/jpeg");
        assert!(file.len() <= max && file.starts_with(&[0xFF, 0xD8]));
    }
}
