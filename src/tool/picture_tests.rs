//! Tests of what is sent of a picture.

use image::{Rgba, RgbaImage};

use super::*;

fn drawing(width: u32, height: u32) -> DynamicImage {
    let shade = |at: u32, of: u32| u8::try_from(at * 255 / of).unwrap();
    DynamicImage::ImageRgba8(RgbaImage::from_fn(width, height, |x, y| {
        Rgba([shade(x, width), shade(y, height), 9, if x < width / 2 { 255 } else { 0 }])
    }))
}

/// Incompressible, so that its file is large.
fn noise(width: u32, height: u32) -> DynamicImage {
    let mut state = 7_u32;
    DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |_, _| {
        Rgb([0; 3].map(|_: u8| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state.to_be_bytes()[0]
        }))
    }))
}

fn decoded(fitted: &Fitted) -> DynamicImage {
    let data = fitted.image.data.bytes().filter(|byte| *byte != b'=');
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for byte in data {
        bits = bits << 6 | u32::from(value(byte));
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).unwrap());
        }
    }
    assert_eq!(bytes.len() as u64, fitted.bytes);
    decode(format(&fitted.image.media_type).unwrap(), &bytes).unwrap()
}

#[test]
fn what_is_small_is_sent_as_it_is() {
    let file = png(&drawing(640, 480)).unwrap();
    let fitted = fit("image/png", &file).unwrap();
    assert_eq!((fitted.bytes, fitted.scaled), (file.len() as u64, None));
    assert_eq!(fitted.image, Image { media_type: "image/png".to_owned(), data: base64::encode(&file) });
    // Nothing is decoded that need not be.
    assert!(fit("image/png", b"\x89PNG\r\n\x1a\n broken").is_ok());
}

#[test]
fn what_is_large_is_scaled_and_keeps_its_shape_and_its_kind() {
    let fitted = fit_into("image/png", &png(&drawing(300, 150)).unwrap(), 200, MOST_BYTES).unwrap();
    assert_eq!(fitted.scaled, Some(Scaled { from: (300, 150), to: (200, 100) }));
    let picture = decoded(&fitted).into_rgba8();
    assert_eq!((picture.width(), picture.height(), fitted.image.media_type.as_str()), (200, 100, "image/png"));
    let (left, right) = (picture.get_pixel(50, 50).0, picture.get_pixel(190, 50).0);
    assert!(left[0].abs_diff(63) < 5 && left[1].abs_diff(127) < 5 && left[3] == 255, "{left:?}");
    assert_eq!(right[3], 0, "what can be seen through stays so");
    let photo = fit("image/jpeg", &jpeg(&drawing(30, 2400)).unwrap()).unwrap();
    assert_eq!(photo.scaled, Some(Scaled { from: (30, 2400), to: (25, 2000) }));
    assert_eq!(photo.image.media_type, "image/jpeg");
}

#[test]
fn a_file_that_is_too_large_becomes_smaller_than_models_take() {
    let file = png(&noise(150, 100)).unwrap();
    let fit = |most| fit_into("image/png", &file, 200, most).unwrap();
    assert_eq!(fit(file.len()).scaled, None);
    let (jpeg, smaller) = (fit(file.len() - 1), fit(3_000));
    assert_eq!((jpeg.image.media_type.as_str(), jpeg.scaled.unwrap().to), ("image/jpeg", (150, 100)));
    assert!(smaller.bytes <= 3_000 && smaller.scaled.unwrap().to < (150, 100), "{:?}", smaller.scaled);
    assert_eq!(fit_into("image/png", &file, 200, 10), Err(Unfit::TooLarge), "it is given up");
    assert!(base64::encode(&vec![0; MOST_BYTES]).len() <= 5_000_000);
}

#[test]
fn what_can_be_seen_through_is_put_on_white() {
    let picture = on_white(&drawing(100, 10));
    assert_eq!(picture.get_pixel(90, 5).0, [255; 3]);
    assert_eq!(picture.get_pixel(0, 0).0, [0, 0, 9]);
}

#[test]
fn a_small_file_that_claims_a_huge_picture_is_refused() {
    let mut file = png(&drawing(1, 1)).unwrap();
    // Width and height of the header, and its checksum (PNG specification, 11.2.1 and annex D).
    file[16..24].copy_from_slice(&[0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff]);
    let checksum = file[12..29].iter().fold(u32::MAX, |mut sum, byte| {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { 0xedb8_8320 ^ sum >> 1 } else { sum >> 1 };
        }
        sum
    });
    file[29..33].copy_from_slice(&(!checksum).to_be_bytes());
    assert_eq!(dimensions("image/png", &file), Some((65_535, 65_535)));
    assert_eq!(fit("image/png", &file), Err(Unfit::TooManyPixels));
    assert_eq!(thumbnail("image/png", &file, (10, 10)), None);
}

#[test]
fn what_cannot_be_scaled_here_is_sent_while_models_take_it() {
    let gif = |width: u16| {
        let [low, high] = width.to_le_bytes();
        [b"GIF89a".as_slice(), &[low, high, 1, 0]].concat()
    };
    assert!(fit("image/gif", &gif(8_000)).is_ok());
    assert_eq!(fit("image/gif", &gif(8_001)), Err(Unfit::TooLarge));
    assert_eq!(fit("image/webp", &vec![0; MOST_BYTES + 1]), Err(Unfit::TooLarge));
    assert_eq!(fit("image/png", &vec![0; MOST_BYTES + 1]), Err(Unfit::TooLarge), "broken and large");
    let webp = |kind: &[u8], rest: &[u8]| [b"RIFF\0\0\0\0WEBP", kind, b"\0\0\0\0", rest].concat();
    assert_eq!(dimensions("image/webp", &webp(b"VP8X", &[0, 0, 0, 0, 9, 1, 0, 4, 0, 0])), Some((266, 5)));
    assert_eq!(dimensions("image/webp", &webp(b"VP8L", &[0x2f, 9, 0, 1, 0])), Some((10, 5)));
    let lossy = webp(b"VP8 ", &[0, 0, 0, 0x9d, 1, 0x2a, 10, 0, 5, 0]);
    assert_eq!(dimensions("image/webp", &lossy), Some((10, 5)));
    assert_eq!(dimensions("image/webp", b"RIFF"), None);
}

#[test]
fn a_photo_taken_on_its_side_stands_upright() {
    // EXIF with one entry, orientation 6: to be turned right by a quarter.
    let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let plain = jpeg(&drawing(2400, 120)).unwrap();
    let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
    let file = [&plain[..2], &[0xff, 0xe1], &length, exif, &plain[2..]].concat();
    let fitted = fit("image/jpeg", &file).unwrap();
    assert_eq!(fitted.scaled.map(|scaled| scaled.to), Some((100, 2000)));
}

#[test]
fn a_thumbnail_fits_its_room_and_is_never_larger_than_the_picture() {
    let file = png(&drawing(400, 100)).unwrap();
    let small = thumbnail("image/png", &file, (100, 100)).unwrap();
    assert_eq!((small.width, small.height, small.pixels.len()), (100, 25, 100 * 25 * 4));
    assert!(small.png.starts_with(b"\x89PNG"));
    let whole = thumbnail("image/png", &file, (1_000, 1_000)).unwrap();
    assert_eq!((whole.width, whole.height), (400, 100));
    assert_eq!(thumbnail("image/gif", b"GIF89a", (10, 10)), None);
}
