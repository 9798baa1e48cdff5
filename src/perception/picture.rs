//! Painting on a picture of a page: what is secret is covered, and elements get their numbers.
//!
//! Pure. Boxes are CSS pixels of the page, as is the area that the picture shows, so the scale
//! follows from its size.
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder, ImageFormat, Rgb, RgbImage};

use crate::domain::ids::ElementId;

/// x, y, width, height in CSS pixels of the page.
pub type Area = [f64; 4];

/// What covers a secret.
pub const MASK: [u8; 3] = [0x2b, 0x2b, 0x2b];
/// A mask is larger than its box by this, so that no edge shows through.
const MARGIN: f64 = 1.0;
/// Neighbours differ.
const COLOURS: [[u8; 3]; 6] = [
    [0xc6, 0x28, 0x28],
    [0x15, 0x65, 0xc0],
    [0x2e, 0x7d, 0x32],
    [0x6a, 0x1b, 0x9a],
    [0xad, 0x5a, 0x00],
    [0x00, 0x69, 0x5c],
];
const PAPER: [u8; 3] = [0xff, 0xff, 0xff];
/// CSS pixels of one dot of a digit, and of an outline.
const DOT: f64 = 2.0;
/// Dots of a digit: five rows of three, the top left is the highest bit.
const DIGITS: [u16; 10] = [
    0b111_101_101_101_111,
    0b010_110_010_010_111,
    0b111_001_111_100_111,
    0b111_001_111_001_111,
    0b101_101_111_001_001,
    0b111_100_111_001_111,
    0b111_100_111_101_111,
    0b111_001_010_010_010,
    0b111_101_111_101_111,
    0b111_101_111_001_111,
];
const WIDE: i64 = 3;
const HIGH: i64 = 5;

/// What is painted on a picture; marks above secrets.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Paint {
    pub secrets: Vec<Area>,
    pub marks: Vec<(ElementId, Area)>,
}

/// A picture that may be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Painted {
    pub png: Vec<u8>,
    pub width: u32,
    pub height: u32,
}

/// Why a picture cannot be painted on: it is not shown then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the browser's picture cannot be read: {0}")]
pub struct BadPicture(String);

/// Paints on a picture that shows `area`.
///
/// # Errors
/// When the picture is none.
pub fn painted(png: Vec<u8>, area: Area, paint: &Paint) -> Result<Painted, BadPicture> {
    let unreadable = |error: image::ImageError| BadPicture(error.to_string());
    let read = image::load_from_memory_with_format(&png, ImageFormat::Png).map_err(unreadable)?;
    let (width, height) = (read.width(), read.height());
    if paint.secrets.is_empty() && paint.marks.is_empty() {
        return Ok(Painted { png, width, height });
    }
    let mut canvas = Canvas::new(read.into_rgb8(), area);
    for secret in &paint.secrets {
        canvas.cover(*secret);
    }
    let mut labels = Vec::new();
    for (id, at) in &paint.marks {
        canvas.mark(*id, *at, &mut labels);
    }
    let mut png = Vec::new();
    PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Adaptive)
        .write_image(canvas.image.as_raw(), width, height, ExtendedColorType::Rgb8)
        .map_err(unreadable)?;
    Ok(Painted { png, width, height })
}

/// Pixels: left, top, right, bottom; what lies outside of the picture is not painted.
type Pixels = [i64; 4];

struct Canvas {
    image: RgbImage,
    area: Area,
    /// Pixels for one CSS pixel.
    scale: (f64, f64),
}

impl Canvas {
    fn new(image: RgbImage, area: Area) -> Self {
        let side = |pixels: u32, css: f64| if css > 0.0 { f64::from(pixels) / css } else { 1.0 };
        let scale = (side(image.width(), area[2]), side(image.height(), area[3]));
        Self { image, area, scale }
    }

    /// Every pixel that a box touches, and `margin` CSS pixels around it.
    fn pixels(&self, [x, y, width, height]: Area, margin: f64) -> Pixels {
        let across = |at: f64| (at - self.area[0]) * self.scale.0;
        let down = |at: f64| (at - self.area[1]) * self.scale.1;
        [
            across(x - margin).floor() as i64,
            down(y - margin).floor() as i64,
            across(x + width + margin).ceil() as i64,
            down(y + height + margin).ceil() as i64,
        ]
    }

    fn cover(&mut self, secret: Area) {
        let pixels = self.pixels(secret, MARGIN);
        self.fill(pixels, MASK);
    }

    fn fill(&mut self, [left, top, right, bottom]: Pixels, colour: [u8; 3]) {
        let (width, height) = (i64::from(self.image.width()), i64::from(self.image.height()));
        for y in top.max(0)..bottom.min(height) {
            for x in left.max(0)..right.min(width) {
                self.image.put_pixel(x as u32, y as u32, Rgb(colour));
            }
        }
    }

    /// Draws an outline, and the number where no other number stands.
    fn mark(&mut self, id: ElementId, at: Area, labels: &mut Vec<Pixels>) {
        let colour = COLOURS[id.0 as usize % COLOURS.len()];
        let (dot, outline) = (self.dot(), self.pixels(at, 0.0));
        let [left, top, right, bottom] = outline;
        for side in [
            [left, top, right, top + dot],
            [left, bottom - dot, right, bottom],
            [left, top, left + dot, bottom],
            [right - dot, top, right, bottom],
        ] {
            self.fill(side, colour);
        }
        let number = id.0.to_string();
        let wide = (number.len() as i64 * (WIDE + 1) + 1) * dot;
        let high = (HIGH + 2) * dot;
        let places = [
            (left, top - high),
            (left, top),
            (right - wide, top),
            (left, bottom),
            (right - wide, bottom - high),
        ];
        let label = |(x, y): (i64, i64)| [x, y, x + wide, y + high];
        let free = |label: &Pixels| {
            label[1] >= 0 && label[0] >= 0 && !labels.iter().any(|other| overlap(label, other))
        };
        let place = places.into_iter().map(label).find(free);
        let place = place.unwrap_or_else(|| label((left.max(0), top.max(0))));
        self.fill(place, colour);
        self.write(&number, (place[0] + dot, place[1] + dot));
        labels.push(place);
    }

    fn dot(&self) -> i64 {
        ((DOT * self.scale.0).round() as i64).max(1)
    }

    fn write(&mut self, digits: &str, (mut x, y): (i64, i64)) {
        let dot = self.dot();
        for digit in digits.bytes() {
            let shape = DIGITS[usize::from(digit - b'0')];
            for at in 0..WIDE * HIGH {
                if shape >> (WIDE * HIGH - 1 - at) & 1 == 1 {
                    let (left, top) = (x + at % WIDE * dot, y + at / WIDE * dot);
                    self.fill([left, top, left + dot, top + dot], PAPER);
                }
            }
            x += (WIDE + 1) * dot;
        }
    }
}

fn overlap(one: &Pixels, other: &Pixels) -> bool {
    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLANK: [u8; 3] = [0xee, 0xee, 0xee];

    fn blank(width: u32, height: u32) -> Vec<u8> {
        let image = RgbImage::from_pixel(width, height, Rgb(BLANK));
        let mut png = Vec::new();
        let encoder = PngEncoder::new(&mut png);
        encoder.write_image(image.as_raw(), width, height, ExtendedColorType::Rgb8).unwrap();
        png
    }

    fn read(painted: &Painted) -> RgbImage {
        image::load_from_memory_with_format(&painted.png, ImageFormat::Png).unwrap().into_rgb8()
    }

    #[test]
    fn every_pixel_of_a_secret_is_covered_at_any_scale() {
        for scale in [1.0, 1.5, 2.0] {
            let side = |css: f64| (css * scale) as u32;
            // The picture shows a part of the page that begins at 100, 1000.
            let area = [100.0, 1000.0, 200.0, 100.0];
            let secret = [119.6, 1020.4, 50.0, 10.0];
            let paint = Paint { secrets: vec![secret], marks: vec![] };
            let painted = painted(blank(side(200.0), side(100.0)), area, &paint).unwrap();
            let image = read(&painted);
            let (mut covered, mut kept) = (0, 0);
            for (x, y, pixel) in image.enumerate_pixels() {
                let (x, y) = (f64::from(x) / scale + 100.0, f64::from(y) / scale + 1000.0);
                let pixel_side = 1.0 / scale;
                let inside = x + pixel_side > secret[0]
                    && x < secret[0] + secret[2]
                    && y + pixel_side > secret[1]
                    && y < secret[1] + secret[3];
                let far = x < secret[0] - 3.0
                    || x > secret[0] + secret[2] + 3.0
                    || y < secret[1] - 3.0
                    || y > secret[1] + secret[3] + 3.0;
                if inside {
                    assert_eq!(pixel.0, MASK, "{x}, {y} at {scale}");
                    covered += 1;
                } else if far {
                    assert_eq!(pixel.0, BLANK, "{x}, {y} at {scale}");
                    kept += 1;
                }
            }
            assert!(covered > 400 && kept > 10_000, "{covered}, {kept}");
        }
    }

    #[test]
    fn what_lies_outside_of_the_picture_is_cut() {
        let paint = Paint {
            secrets: vec![[-50.0, -50.0, 60.0, 60.0], [1e9, 1e9, 5.0, 5.0], [0.0, 90.0, 1e9, 1e9]],
            marks: vec![(ElementId(7), [-5.0, -5.0, 400.0, 400.0])],
        };
        let image = read(&painted(blank(100, 100), [0.0, 0.0, 100.0, 100.0], &paint).unwrap());
        assert_eq!(image.get_pixel(9, 30).0, BLANK);
        assert_eq!(image.get_pixel(50, 95).0, MASK);
    }

    #[test]
    fn marks_have_an_outline_and_a_number_each() {
        let at = [20.0, 20.0, 60.0, 20.0];
        let marks = vec![(ElementId(1), at), (ElementId(8), at)];
        let paint = Paint { secrets: vec![], marks };
        let image = read(&painted(blank(100, 60), [0.0, 0.0, 100.0, 60.0], &paint).unwrap());
        // The second outline lies over the first.
        assert_eq!(image.get_pixel(79, 39).0, COLOURS[2]);
        assert_eq!(image.get_pixel(50, 30).0, BLANK);
        // "1" stands above the box, "8" found that place taken.
        let count = |colour: [u8; 3]| image.pixels().filter(|pixel| pixel.0 == colour).count();
        let dots = |digit: usize| DIGITS[digit].count_ones() as usize * 4;
        assert_eq!(count(PAPER), dots(1) + dots(8));
        assert_eq!(image.get_pixel(21, 7).0, COLOURS[1]);
        assert_eq!(image.get_pixel(22, 22).0, PAPER, "the top left dot of the 8");
    }

    #[test]
    fn what_is_no_picture_is_said_and_what_needs_no_paint_stays() {
        let plain = blank(10, 5);
        let same = painted(plain.clone(), [0.0, 0.0, 10.0, 5.0], &Paint::default()).unwrap();
        assert_eq!((same.png == plain, same.width, same.height), (true, 10, 5));
        assert!(painted(b"rubbish".to_vec(), [0.0; 4], &Paint::default()).is_err());
    }
}
