//! Files of picture services, decoded and encoded again.
//!
//! Entry function: [`cleaned`]. **Never**: trusts a declared type, or decodes before it knows the size.

use std::{io::Cursor, sync::Arc};

use image::{DynamicImage, ImageFormat, ImageReader, Limits, codecs::jpeg::JpegEncoder};
use tokio::{sync::Semaphore, task::spawn_blocking};

/// Largest picture, in pixels.
const PIXELS_MAX: u64 = 16_000_000;
/// Longest side, in pixels.
const SIDE_MAX: u32 = 16_384;
/// Memory that decoding may take, in bytes: twice the largest picture of 16 bits a channel.
const DECODING_MAX: u64 = 256 << 20;
/// Largest file that is shown, in bytes.
const SHOWN_MAX: usize = 8 << 20;
/// Qualities of a JPEG in place of a PNG that is too large, the best first.
const QUALITIES: [u8; 3] = [90, 75, 50];

/// Pictures that are decoded at once.
static DECODING: Semaphore = Semaphore::const_new(2);

/// Reason a file cannot be shown as a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPicture {
    /// Its first bytes are of no known kind.
    #[error("the file is no PNG, JPEG or WebP")]
    Kind,
    /// Its header cannot be read, or its pixels.
    #[error("the file is damaged")]
    Damaged,
    /// It would take too much memory.
    #[error("{0} x {1} pixels are too many (16 megapixels at most, 16,384 a side)")]
    Large(u32, u32),
    /// No encoding of it is small enough.
    #[error("the picture exceeds 8 MiB")]
    Heavy,
    /// The program is shutting down, or decoding crashed.
    #[error("decoding failed")]
    Failed,
}

/// `bytes` as a PNG without metadata, or as a JPEG where that exceeds 8 MiB; with its MIME type. Decodes
/// off the runtime. Cancel safe.
///
/// # Errors
/// The file is no picture within the bounds.
pub async fn cleaned(bytes: Vec<u8>) -> Result<(Arc<[u8]>, &'static str), BadPicture> {
    let permit = DECODING.acquire().await.map_err(|_| BadPicture::Failed)?;
    let done = spawn_blocking(move || {
        let _permit = permit;
        encoded(decoded(&bytes)?, SHOWN_MAX)
    });
    done.await.unwrap_or(Err(BadPicture::Failed))
}

/// The pixels of a file; its first bytes determine the format.
fn decoded(bytes: &[u8]) -> Result<DynamicImage, BadPicture> {
    let kind = image::guess_format(bytes).map_err(|_| BadPicture::Kind)?;
    if !matches!(kind, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP) {
        return Err(BadPicture::Kind);
    }
    let reader = || {
        let mut limits = Limits::no_limits();
        limits.max_alloc = Some(DECODING_MAX);
        let mut reader = ImageReader::with_format(Cursor::new(bytes), kind);
        reader.limits(limits);
        reader
    };
    let (width, height) = reader().into_dimensions().map_err(|_| BadPicture::Damaged)?;
    let is_large = u64::from(width) * u64::from(height) > PIXELS_MAX;
    if is_large || width.max(height) > SIDE_MAX {
        return Err(BadPicture::Large(width, height));
    }
    reader().decode().map_err(|_| BadPicture::Damaged)
}

/// `picture` as a file of at most `max` bytes.
fn encoded(picture: DynamicImage, max: usize) -> Result<(Arc<[u8]>, &'static str), BadPicture> {
    let is_clear = picture.color().has_alpha();
    // 8 bits a channel are enough to look at.
    let plain = match is_clear {
        true => DynamicImage::from(picture.into_rgba8()),
        false => DynamicImage::from(picture.into_rgb8()),
    };
    let mut file = Cursor::new(Vec::new());
    plain.write_to(&mut file, ImageFormat::Png).map_err(|_| BadPicture::Failed)?;
    if file.get_ref().len() <= max {
        return Ok((file.into_inner().into(), "image/png"));
    }
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

#[cfg(test)]
mod tests {
    use flate2::Crc;
    use image::{Rgb, RgbImage};

    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut file = Cursor::new(Vec::new());
        let pixels = RgbImage::from_pixel(width, height, Rgb([200, 30, 30]));
        pixels.write_to(&mut file, ImageFormat::Png).unwrap();
        file.into_inner()
    }

    /// `file` with a text chunk behind its header.
    fn with_text(file: &[u8], text: &[u8]) -> Vec<u8> {
        let header = 8 + 25;
        let mut chunk = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        let body = [b"tEXt".as_slice(), text].concat();
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
    async fn bomb_is_refused_before_decoding() {
        // The header of a small file, rewritten to say 60,000 x 60,000.
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
        // A hundredth of the pixels and bytes; `tests/pictures` has all of them.
        let max = SHOWN_MAX / 100;
        let (file, mime) = encoded(noise.into(), max).unwrap();
        assert_eq!(mime, "image/jpeg");
        assert!(file.len() <= max && file.starts_with(&[0xFF, 0xD8]));
    }
}
