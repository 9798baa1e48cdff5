//! The events that we follow, with the fields that we read: the generated types take a browser
//! that says something new for one that cannot be understood, and cost more to read.
use std::borrow::Cow;

use serde::Deserialize;

use crate::cdp::standing::Document;

/// An event of one frame.
pub(super) trait Framed {
    fn frame(&self) -> &str;
}

macro_rules! framed {
    ($($event:ident),*) => {
        $(impl Framed for $event<'_> {
            fn frame(&self) -> &str {
                &self.frame_id
            }
        })*
    };
}

framed!(OfFrame, Within, Started, Asked, Lifecycle);

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OfFrame<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Within<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
    #[serde(borrow)]
    pub url: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
    #[serde(borrow)]
    pub loader_id: Cow<'a, str>,
    #[serde(borrow)]
    pub navigation_type: Cow<'a, str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Asked<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
    pub delay: Option<f64>,
    #[serde(borrow)]
    pub disposition: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Lifecycle<'a> {
    #[serde(borrow)]
    pub frame_id: Cow<'a, str>,
    #[serde(borrow)]
    pub loader_id: Cow<'a, str>,
    #[serde(borrow)]
    pub name: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Navigated {
    pub frame: Frame,
}

/// A frame, as its navigation and the frame tree describe it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Frame {
    pub id: String,
    pub parent_id: Option<String>,
    pub loader_id: String,
    pub url: String,
    pub url_fragment: Option<String>,
    pub unreachable_url: Option<String>,
}

impl Frame {
    pub fn document(&self) -> Document {
        let url = format!("{}{}", self.url, self.url_fragment.as_deref().unwrap_or_default());
        Document {
            loader: self.loader_id.clone(),
            url,
            failed_url: self.unreachable_url.clone(),
            ..Document::default()
        }
    }
}

#[derive(Deserialize)]
pub(super) struct DialogOpening {
    #[serde(rename = "type")]
    pub kind: String,
    pub message: String,
}

#[derive(Deserialize)]
pub(super) struct WindowOpen<'a> {
    #[serde(borrow)]
    pub url: Cow<'a, str>,
}

#[derive(Deserialize)]
pub(super) struct Created {
    pub context: Context,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Context {
    pub id: i64,
    pub name: String,
    pub aux_data: Option<AuxData>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AuxData {
    pub frame_id: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ContextDestroyed {
    pub execution_context_id: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Child<'a> {
    #[serde(borrow)]
    pub session_id: Cow<'a, str>,
}
