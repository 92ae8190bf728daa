//! Prepares pictures for models: larger ones than they accept are scaled down before they are sent.
//!
//! Providers scale larger pictures down themselves, or refuse the request; every later request would be refused,
//! too, because the picture stays in the conversation. A picture that may be sent as it is, is not decoded.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::error::ImageError;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder as _, ImageFormat, ImageReader, Limits, Rgb, RgbImage};

use super::base64;
use crate::conversation::Image;

/// The longest edge that is sent, in pixels. Anthropic takes 2,000 in a request of many pictures, which a long
/// conversation is, and scales down itself what is more than its model sees (1,568 or 2,576); OpenAI scales down to
/// 2,048 (platform.claude.com/docs/en/build-with-claude/vision, developers.openai.com/api/docs/guides/images-vision).
const LONGEST_EDGE: u32 = 2_000;
/// The longest edge of a picture that cannot be scaled here: Anthropic refuses more.
const LONGEST_EDGE_UNSCALED: u32 = 8_000;
/// Bytes of a picture at most: 5 MB in base64, the smallest limit of a provider (Anthropic).
const MOST_BYTES: usize = 3_750_000;
/// Memory that decoding may take, in bytes: a file of some kilobytes may say that it is a picture of many gigabytes.
const MEMORY: u64 = 512 * 1024 * 1024;
/// A loss of quality that makes no difference to a model.
const JPEG_QUALITY: u8 = 85;
/// How often a picture is made smaller by a quarter until its file is small enough.
const ATTEMPTS: usize = 8;

/// A picture as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fitted {
    pub(crate) image: Image,
    /// Size of its file, in bytes.
    pub(crate) bytes: u64,
    pub(crate) scaled: Option<Scaled>,
}

/// How a picture was made smaller: width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaled {
    /// As it was.
    pub from: (u32, u32),
    /// As it is sent.
    pub to: (u32, u32),
}

/// Why a picture cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// Decoding it would take more than 512 MB.
    #[error("of more pixels than can be scaled down")]
    TooManyPixels,
    /// It is larger than models take and cannot be scaled down here: a GIF, a WebP, or a broken file.
    #[error("larger than models take, and cannot be scaled down")]
    TooLarge,
}

/// Makes a picture fit.
///
/// # Errors
/// [`Unfit`].
pub(crate) fn fit(media_type: &str, bytes: &[u8]) -> Result<Fitted, Unfit> {
    fit_into(media_type, bytes, LONGEST_EDGE, MOST_BYTES)
}

fn fit_into(media_type: &str, bytes: &[u8], longest_edge: u32, most_bytes: usize) -> Result<Fitted, Unfit> {
    let size = dimensions(media_type, bytes);
    let longest = size.map_or(0, |(width, height)| width.max(height));
    let format = format(media_type);
    let small = bytes.len() <= most_bytes;
    let most = if format.is_some() { longest_edge } else { LONGEST_EDGE_UNSCALED };
    if small && longest <= most {
        return Ok(fitted(media_type, bytes, None));
    }
    let picture = decode(format.ok_or(Unfit::TooLarge)?, bytes).map_err(|error| match error {
        ImageError::Limits(_) => Unfit::TooManyPixels,
        _ => Unfit::TooLarge,
    })?;
    let from = (picture.width(), picture.height());
    let mut scaled = shrink(picture, longest_edge);
    for _ in 0..ATTEMPTS {
        let encoded = if format == Some(ImageFormat::Png) { png(&scaled) } else { None };
        let encoded = encoded.map(|bytes| ("image/png", bytes)).filter(|(_, bytes)| bytes.len() <= most_bytes);
        let encoded = encoded.or_else(|| Some(("image/jpeg", jpeg(&scaled)?)));
        let (media_type, bytes) = encoded.ok_or(Unfit::TooLarge)?;
        if bytes.len() <= most_bytes {
            let to = (scaled.width(), scaled.height());
            return Ok(fitted(media_type, &bytes, Some(Scaled { from, to })));
        }
        let edge = scaled.width().max(scaled.height()) / 4 * 3;
        scaled = shrink(scaled, edge);
    }
    Err(Unfit::TooLarge)
}

/// Makes a picture of at most `width` × `height` pixels for the terminal; `None` when it cannot be decoded.
pub(crate) fn thumbnail(media_type: &str, bytes: &[u8], (width, height): (u32, u32)) -> Option<Thumbnail> {
    let picture = decode(format(media_type)?, bytes).ok()?;
    let picture = if picture.width() > width || picture.height() > height {
        picture.thumbnail(width.max(1), height.max(1))
    } else {
        picture
    };
    let png = png(&picture)?;
    Some(Thumbnail {
        width: picture.width(),
        height: picture.height(),
        png,
        pixels: picture.into_rgba8().into_raw(),
    })
}

/// A small picture, as a file and as pixels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thumbnail {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) png: Vec<u8>,
    /// Red, green, blue and opacity of each pixel, row by row.
    pub(crate) pixels: Vec<u8>,
}

fn fitted(media_type: &str, bytes: &[u8], scaled: Option<Scaled>) -> Fitted {
    let image = Image { media_type: media_type.to_owned(), data: base64::encode(bytes) };
    Fitted { image, bytes: bytes.len() as u64, scaled }
}

fn format(media_type: &str) -> Option<ImageFormat> {
    match media_type {
        "image/png" => Some(ImageFormat::Png),
        "image/jpeg" => Some(ImageFormat::Jpeg),
        _ => None,
    }
}

fn decode(format: ImageFormat, bytes: &[u8]) -> Result<DynamicImage, ImageError> {
    let mut limits = Limits::default();
    limits.max_alloc = Some(MEMORY);
    let mut reader = ImageReader::with_format(Cursor::new(bytes), format);
    reader.limits(limits.clone());
    let mut decoder = reader.into_decoder()?;
    // The decoder counts only what it needs beside the picture.
    limits.reserve(decoder.total_bytes())?;
    decoder.set_limits(limits)?;
    // What is encoded anew has no EXIF to say which side is up.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

fn shrink(picture: DynamicImage, edge: u32) -> DynamicImage {
    // Sixteen bits a channel are twice the file and nothing to see.
    let picture = if picture.color().has_alpha() {
        DynamicImage::ImageRgba8(picture.into_rgba8())
    } else {
        DynamicImage::ImageRgb8(picture.into_rgb8())
    };
    if picture.width().max(picture.height()) > edge { picture.thumbnail(edge.max(1), edge.max(1)) } else { picture }
}

fn png(picture: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    picture.write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png).ok()?;
    Some(bytes)
}

fn jpeg(picture: &DynamicImage) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let opaque = on_white(picture);
    JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY).encode_image(&opaque).ok()?;
    Some(bytes)
}

/// Puts transparent pixels on white, as most screenshots and drawings are meant: JPEG has no transparency.
fn on_white(picture: &DynamicImage) -> RgbImage {
    let DynamicImage::ImageRgba8(pixels) = picture else { return picture.to_rgb8() };
    let mut opaque = RgbImage::new(pixels.width(), pixels.height());
    for (from, to) in pixels.pixels().zip(opaque.pixels_mut()) {
        let [red, green, blue, opacity] = from.0.map(u32::from);
        let blend = |value: u32| u8::try_from((value * opacity + 255 * (255 - opacity)) / 255).unwrap_or(u8::MAX);
        *to = Rgb([blend(red), blend(green), blend(blue)]);
    }
    opaque
}

/// Reads width and height from a file's head; `None` when they are not there.
fn dimensions(media_type: &str, bytes: &[u8]) -> Option<(u32, u32)> {
    if let Some(format) = format(media_type) {
        return ImageReader::with_format(Cursor::new(bytes), format).into_dimensions().ok();
    }
    let little = |at: usize, count: usize| {
        let bytes = bytes.get(at..at + count)?;
        Some(bytes.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte)))
    };
    match (media_type, bytes.get(12..16)) {
        // GIF89a specification, 18: the logical screen.
        ("image/gif", _) => Some((little(6, 2)?, little(8, 2)?)),
        // RFC 9649, 2.7, 2.5, 2.6: sizes minus one in the extended and the lossless format.
        ("image/webp", Some(b"VP8X")) => Some((little(24, 3)? + 1, little(27, 3)? + 1)),
        ("image/webp", Some(b"VP8L")) => {
            let bits = little(21, 4)?;
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        ("image/webp", Some(b"VP8 ")) => Some((little(26, 2)? & 0x3fff, little(28, 2)? & 0x3fff)),
        (_, _) => None,
    }
}

#[cfg(test)]
#[path = "picture_tests.rs"]
mod tests;
