//! The events that we follow, with the fields that we read: the generated types take a browser
//! that says something new for one that cannot be understood, and cost more to read.
use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

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

// ---- the console ----

/// `console.log(…)` and its like.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Called<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub args: Vec<Remote<'a>>,
    /// Milliseconds since 1970.
    pub timestamp: Option<f64>,
    #[serde(borrow)]
    pub stack_trace: Option<StackTrace<'a>>,
}

/// A value of the page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Remote<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Cow<'a, str>,
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
    #[serde(borrow)]
    pub unserializable_value: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub description: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub preview: Option<Preview<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Preview<'a> {
    #[serde(borrow)]
    pub subtype: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub description: Option<Cow<'a, str>>,
    #[serde(default)]
    pub overflow: bool,
    #[serde(borrow, default)]
    pub properties: Vec<Property<'a>>,
}

#[derive(Deserialize)]
pub(super) struct Property<'a> {
    #[serde(borrow)]
    pub name: Cow<'a, str>,
    #[serde(borrow)]
    pub value: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTrace<'a> {
    #[serde(borrow)]
    pub call_frames: Vec<CallFrame<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CallFrame<'a> {
    #[serde(borrow)]
    pub url: Cow<'a, str>,
    /// From 0.
    pub line_number: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExceptionThrown<'a> {
    pub timestamp: Option<f64>,
    #[serde(borrow)]
    pub exception_details: ExceptionDetails<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ExceptionDetails<'a> {
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub line_number: i64,
    #[serde(borrow)]
    pub url: Option<Cow<'a, str>>,
    #[serde(borrow)]
    pub exception: Option<Remote<'a>>,
    #[serde(borrow)]
    pub stack_trace: Option<StackTrace<'a>>,
}

#[derive(Deserialize)]
pub(super) struct EntryAdded<'a> {
    #[serde(borrow)]
    pub entry: Entry<'a>,
}

/// What the browser itself says about a page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Entry<'a> {
    #[serde(borrow)]
    pub level: Cow<'a, str>,
    #[serde(borrow)]
    pub text: Cow<'a, str>,
    pub timestamp: f64,
    #[serde(borrow)]
    pub url: Option<Cow<'a, str>>,
    pub line_number: Option<i64>,
}
