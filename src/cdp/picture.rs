//! Pictures of a page. Boxes are CSS pixels of the page, so that scrolling meanwhile moves nothing.
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use chromiumoxide_cdp::cdp::browser_protocol::page::{
    CaptureScreenshotFormat, CaptureScreenshotParams, GetLayoutMetricsParams, Viewport,
};
use serde::Deserialize;

use crate::cdp::attached::{Attached, Deadline};
use crate::ports::page::{PageError, Shot, Taken};

/// No side of a picture is longer: the browser paints no more at once.
const LONGEST: f64 = 16_384.0;
/// No picture has more pixels: it is kept whole in memory while it is painted on.
const PIXELS: f64 = 40e6;
const WHAT: &str = "take a picture";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metrics {
    css_visual_viewport: Visual,
    css_content_size: Size,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Visual {
    page_x: f64,
    page_y: f64,
    client_width: f64,
    client_height: f64,
}

#[derive(Deserialize)]
struct Size {
    width: f64,
    height: f64,
}

#[derive(Deserialize)]
struct Captured {
    /// Base64.
    data: String,
}

impl Attached {
    pub async fn picture(&self, shot: Shot, patience: Duration) -> Result<Taken, PageError> {
        let (deadline, number) = (Deadline::after(patience), self.number());
        let measured = self.ask_page(GetLayoutMetricsParams::default(), deadline.left()).await;
        let metrics: Metrics = match measured {
            Ok(metrics) => metrics,
            Err(error) => return Err(self.explain(error, number, (WHAT, patience)).await),
        };
        let (area, cut) = metrics.area(shot);
        let [x, y, width, height] = area;
        if !(width >= 1.0 && height >= 1.0) {
            let why = "there is nothing to see: it has no size".into();
            return Err(PageError::Refused { what: WHAT, why });
        }
        let capture = CaptureScreenshotParams {
            format: Some(CaptureScreenshotFormat::Png),
            clip: Some(Viewport { x, y, width, height, scale: 1.0 }),
            capture_beyond_viewport: Some(!metrics.shows(area)),
            ..CaptureScreenshotParams::default()
        };
        let captured: Captured = match self.ask_page(capture, deadline.left()).await {
            Ok(captured) => captured,
            Err(error) => return Err(self.explain(error, number, (WHAT, patience)).await),
        };
        let png = STANDARD
            .decode(captured.data)
            .map_err(|error| PageError::Refused { what: WHAT, why: error.to_string() })?;
        Ok(Taken { png, area, cut })
    }
}

impl Metrics {
    /// Returns what is shown of what was asked for, on whole pixels, and whether it is less.
    fn area(&self, shot: Shot) -> ([f64; 4], bool) {
        let seen = &self.css_visual_viewport;
        let Size { width, height } = self.css_content_size;
        let [x, y, width, height] = match shot {
            Shot::Viewport => [seen.page_x, seen.page_y, seen.client_width, seen.client_height],
            Shot::FullPage => [0.0, 0.0, width, height],
            Shot::Box(area) => area,
        };
        let (left, top) = (x.max(0.0).floor(), y.max(0.0).floor());
        let (right, bottom) = ((x + width).ceil(), (y + height).ceil());
        let (wide, high) = ((right - left).max(0.0), (bottom - top).max(0.0));
        let kept_wide = wide.min(LONGEST);
        let kept_high = high.min(LONGEST).min((PIXELS / kept_wide.max(1.0)).floor());
        ([left, top, kept_wide, kept_high], kept_wide < wide || kept_high < high)
    }

    /// Whether all of `area` is on the screen.
    fn shows(&self, [x, y, width, height]: [f64; 4]) -> bool {
        let seen = &self.css_visual_viewport;
        x >= seen.page_x.floor()
            && y >= seen.page_y.floor()
            && x + width <= (seen.page_x + seen.client_width).ceil()
            && y + height <= (seen.page_y + seen.client_height).ceil()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(height: f64) -> Metrics {
        let visual =
            Visual { page_x: 0.0, page_y: 100.5, client_width: 800.0, client_height: 600.0 };
        Metrics { css_visual_viewport: visual, css_content_size: Size { width: 800.0, height } }
    }

    #[test]
    fn areas_lie_on_whole_pixels_and_are_cut_where_a_picture_ends() {
        let tall = page(100_000.0);
        let view = ([0.0, 100.0, 800.0, 601.0], false);
        assert_eq!(tall.area(Shot::Viewport), view);
        assert!(tall.shows(view.0));
        assert_eq!(tall.area(Shot::FullPage), ([0.0, 0.0, 800.0, 16_384.0], true));
        assert_eq!(page(900.0).area(Shot::FullPage), ([0.0, 0.0, 800.0, 900.0], false));
        let over_the_edge = tall.area(Shot::Box([-10.0, 90.4, 20.0, 10.2]));
        assert_eq!(over_the_edge, ([0.0, 90.0, 10.0, 11.0], false));
        assert!(!tall.shows(over_the_edge.0));
        let (area, cut) = tall.area(Shot::Box([0.0, 0.0, 1e9, 1e9]));
        assert!(cut && area[2] * area[3] <= PIXELS, "{area:?}");
    }
}
