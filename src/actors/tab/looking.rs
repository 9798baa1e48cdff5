//! Pictures of the page. What is secret is painted over before anybody gets to see them: where its
//! fields stand is asked before the shot and after it, and without both answers there is no picture.

use serde_json::json;

use crate::actors::tab::work::{Found, Hands, unreadable};
use crate::domain::ids::ElementId;
use crate::domain::page::observation::View;
use crate::domain::target::Target;
use crate::messages::tab::{Picture, PictureOrder, TabError};
use crate::perception::answers::{Probed, Secrets};
use crate::perception::decode::parse;
use crate::perception::picture::{Area, Paint, painted};
use crate::ports::page::{Page, Shot, Taken};

/// A page that navigates during every one of so many shots gives no picture.
const TRIES: usize = 3;

impl Hands {
    pub async fn picture(&self, order: PictureOrder) -> Result<Picture, TabError> {
        for _ in 0..TRIES {
            if let Some(picture) = self.shoot(&order).await? {
                return Ok(picture);
            }
        }
        let why = "no picture was taken: the page went on navigating meanwhile";
        Err(TabError::Refused { why: why.into() })
    }

    /// Takes a picture; none when another document came while it was taken.
    async fn shoot(&self, order: &PictureOrder) -> Result<Option<Picture>, TabError> {
        let bounds = match &order.target {
            Some(target) => Some(self.bring_into_view(target).await?),
            None => None,
        };
        let marks = if order.marks { self.numbered(order).await? } else { Vec::new() };
        let before = self.secrets().await?;
        let shot = match (bounds, order.full_page) {
            (Some(bounds), _) => Shot::Box(on_page(bounds, before.scroll)),
            (None, true) => Shot::FullPage,
            (None, false) => Shot::Viewport,
        };
        let taken = self.page.screenshot(shot, self.left()).await?;
        let after = self.secrets().await?;
        if before.document != after.document {
            return Ok(None);
        }
        let marks = marks.into_iter().map(|(id, bounds)| (id, on_page(bounds, before.scroll)));
        let secrets = before.boxes.into_iter().chain(after.boxes).collect();
        let paint = Paint { secrets, marks: marks.collect() };
        finished(taken, paint).await.map(Some)
    }

    /// Returns where an element stands in the viewport.
    async fn bring_into_view(&self, target: &Target) -> Result<Area, TabError> {
        let Found { document, key, label } = self.resolve(target).await?;
        let argument = json!({ "document": document, "key": key, "scroll": true }).to_string();
        let raw = self.page.call("probe", &argument, self.left()).await?;
        match parse::<Probed>(&raw).map_err(unreadable)? {
            Probed::Ok(probe) => {
                let at = probe.bounds;
                Ok([at.x, at.y, at.width, at.height])
            }
            Probed::Gone | Probed::Nowhere => Err(TabError::Stale { id: label }),
        }
    }

    /// Returns what gets a mark: on a picture of the viewport what an observation lists, elsewhere
    /// everything that can be operated. The numbers are those that this look gives.
    async fn numbered(&self, order: &PictureOrder) -> Result<Vec<(ElementId, Area)>, TabError> {
        let whole = order.full_page || order.target.is_some();
        let seen = self.observe(if whole { View::Operable } else { View::Payload }).await?;
        let sized = |bounds: &Area| bounds[2] > 0.0 && bounds[3] > 0.0;
        let shown = seen.elements.into_iter();
        Ok(shown.filter_map(|shown| Some((shown.id, shown.bounds.filter(sized)?))).collect())
    }

    async fn secrets(&self) -> Result<Secrets, TabError> {
        let raw = self.page.call("secrets", "{}", self.left()).await?;
        parse(&raw).map_err(|error| {
            let why = format!("no picture is taken while it is unknown what is secret: {error}");
            TabError::Refused { why }
        })
    }
}

fn on_page([x, y, width, height]: Area, [right, down]: [f64; 2]) -> Area {
    [x + right, y + down, width, height]
}

/// Paints beside the runtime's own threads: a picture has millions of pixels.
async fn finished(taken: Taken, paint: Paint) -> Result<Picture, TabError> {
    let Taken { png, area, cut } = taken;
    let refused = |why: String| TabError::Refused { why };
    let painting = tokio::task::spawn_blocking(move || painted(png, area, &paint));
    let painted = painting.await.map_err(|error| refused(error.to_string()))?;
    let painted = painted.map_err(|error| refused(error.to_string()))?;
    Ok(Picture { png: painted.png, width: painted.width, height: painted.height, cut })
}
