//! The only page there is: what it answers, and what it does when it is touched.
use std::time::Duration;

use async_trait::async_trait;
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use strawmanus::domain::keys::Chord;
use strawmanus::ports::Sink;
use strawmanus::ports::page::{
    ConsoleLines, Landing, Location, Page, PageError, PageEvent, Press, RequestKind, Shot, Taken,
    TargetKey, Unreachable,
};

use crate::support::web::{At, CONTROLS, Control, Fault, Target, Web};

pub struct FakePage {
    web: Web,
    key: String,
    _sink: Sink<PageEvent>,
}

impl FakePage {
    pub fn new(web: Web, key: String, sink: Sink<PageEvent>) -> Self {
        Self { web, key, _sink: sink }
    }

    fn with<T>(&self, work: impl FnOnce(&mut Target) -> T) -> Result<T, PageError> {
        let mut world = self.web.0.lock().unwrap();
        if world.browser.is_none() {
            return Err(PageError::Lost);
        }
        let target = world.targets.get_mut(&self.key).ok_or(PageError::Gone)?;
        if !target.alive {
            return Err(PageError::Crashed);
        }
        Ok(work(target))
    }

    async fn check(&self, at: At, patience: Duration) -> Result<Option<Fault>, PageError> {
        let called = tokio::time::timeout(patience, self.web.call(at, Some(&self.key))).await;
        let fault = called.map_err(|_| PageError::TimedOut { what: "the call", patience })??;
        self.with(|_| ())?;
        Ok(fault)
    }

    /// What the page's own code does when a control is pressed.
    fn pressed(&self, control: Control) -> Result<(), PageError> {
        match control.name {
            "Details" => self.web.land(&self.key, "http://shop.test/details"),
            "Send" | "Add to cart" => self.post(control.name, RequestKind::Fetch),
            "Search" => {
                self.post(control.name, RequestKind::Document);
                self.web.land(&self.key, "http://shop.test/found");
            }
            "Preview" => self.web.pop_up_from(self.key.clone(), "http://shop.test/preview"),
            "Ask" => {
                self.web.open_dialog(&self.key, "confirm", "really?");
                return Err(PageError::DialogOpen);
            }
            "Close" => {
                self.web.write("closed itself");
                self.web.hit(&self.key, PageEvent::Gone);
                return Err(PageError::Gone);
            }
            _ => self.web.write(format!("pressed {}", control.name)),
        }
        Ok(())
    }

    fn post(&self, what: &str, kind: RequestKind) {
        self.web.write(format!("POST {what}"));
        let (method, url) = ("POST".to_owned(), "http://shop.test/act".to_owned());
        let sent = PageEvent::Sent { method: method.clone(), url: url.clone(), kind };
        self.web.hit(&self.key, sent);
        self.web.hit(&self.key, PageEvent::Answered { method, url, status: 200 });
    }
}

/// Where the field stands that holds a secret: over the second control.
pub const SECRET: [f64; 4] = [10.0, 80.0, 80.0, 20.0];

/// A picture without anything on it.
fn blank([_, _, width, height]: [f64; 4]) -> Vec<u8> {
    let image = RgbImage::from_pixel(width as u32, height as u32, Rgb([0xff, 0xff, 0xff]));
    let mut png = std::io::Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).unwrap();
    png.into_inner()
}

fn control(key: &Value) -> Option<Control> {
    let place = usize::try_from(key.as_u64()?).ok()?.checked_sub(1)?;
    CONTROLS.get(place).copied()
}

fn walked(target: &Target) -> String {
    let head = json!([-1, "body", "", "", 0, 16, null, []]);
    let controls = CONTROLS.iter().zip(1..).map(|(control, key)| {
        let top = f64::from(key) * 40.0;
        // Interactive, reachable, in the viewport, a block.
        json!([
            0,
            control.tag,
            control.role,
            control.name,
            key,
            1 + 2 + 4 + 16,
            [10.0, top, 80.0, 20.0],
            []
        ])
    });
    let nodes: Vec<_> = std::iter::once(head).chain(controls).collect();
    json!({
        "v": 1, "document": format!("d{}", target.document), "url": target.url, "title": "A page",
        "viewport": [800, 600, 0, 600], "modal": null, "notes": [], "nodes": nodes,
    })
    .to_string()
}

fn probed(target: &Target, key: &Value) -> String {
    let Some(control) = control(key) else {
        return json!({ "status": "gone" }).to_string();
    };
    let top = key.as_f64().unwrap_or_default() * 40.0;
    let name = if target.renamed { "Send" } else { control.name };
    let texts = if target.reworded { vec!["Send"] } else { vec![] };
    let compose = target.composes && control.tag == "input";
    json!({
        "status": "ok", "document": format!("d{}", target.document), "key": key, "url": target.url,
        "label": format!("{} \"{}\"", control.role, control.name), "tag": control.tag,
        "kind": "", "role": control.role, "name": name, "texts": texts, "visible": true,
        "enabled": true, "editable": control.tag == "input", "readonly": false, "checked": null,
        "secret": target.secret, "box": { "x": 10.0, "y": top, "width": 80.0, "height": 20.0 },
        "in_viewport": true, "point": { "x": 50.0, "y": top + 10.0 }, "coverer": null,
        "form": null, "submits": false, "compose": compose, "search": false,
        "place": target.place, "digest": target.field, "payload": "", "choices": [],
    })
    .to_string()
}

fn resolved(target: &Target, asked: &Value) -> String {
    let document = format!("d{}", target.document);
    let ok = |key: u64, control: Control| {
        let label = format!("{} \"{}\"", control.role, control.name);
        json!({ "status": "ok", "document": document, "key": key, "label": label }).to_string()
    };
    if let Some(key) = asked["key"].as_u64() {
        let same = asked["document"] == json!(document);
        return match control(&asked["key"]).filter(|_| same) {
            Some(found) => ok(key, found),
            None => json!({ "status": "stale" }).to_string(),
        };
    }
    let name = asked["target"]["query"][0]["name"].as_str().unwrap_or_default();
    let found = CONTROLS.iter().zip(1..).find(|(control, _)| control.name == name);
    found.map_or_else(
        || json!({ "status": "not_found" }).to_string(),
        |(control, key)| ok(key, *control),
    )
}

#[async_trait]
impl Page for FakePage {
    fn target(&self) -> TargetKey {
        TargetKey(self.key.clone())
    }

    async fn navigate(&self, url: &str, patience: Duration) -> Result<Landing, PageError> {
        self.check(At::Navigate, patience).await?;
        if url.contains("nowhere") {
            let (why, detail) = (Unreachable::DnsFailed, "net::ERR_NAME_NOT_RESOLVED".into());
            return Err(PageError::Unreachable { why, detail });
        }
        self.web.write(format!("navigate {url}"));
        self.web.land(&self.key, url);
        Ok(Landing { url: url.to_owned(), title: "A page".into(), status: Some(200) })
    }

    async fn settled(&self, patience: Duration) -> Result<Landing, PageError> {
        self.check(At::Settled, patience).await?;
        self.with(|target| Landing {
            url: target.url.clone(),
            title: "A page".into(),
            status: None,
        })
    }

    async fn location(&self) -> Result<Location, PageError> {
        self.web.call(At::Location, Some(&self.key)).await?;
        self.with(|target| Location { url: target.url.clone(), title: "A page".into() })
    }

    async fn evaluate(&self, script: &str, patience: Duration) -> Result<String, PageError> {
        self.check(At::Evaluate, patience).await?;
        Ok(json!(script).to_string())
    }

    async fn call(
        &self,
        function: &'static str,
        argument: &str,
        patience: Duration,
    ) -> Result<String, PageError> {
        if self.with(|target| target.dialog.is_some())? {
            return Err(PageError::DialogOpen);
        }
        if self.check(At::Call(function), patience).await? == Some(Fault::Garbage) {
            return Ok("{\"rubbish\":".into());
        }
        let asked: Value = serde_json::from_str(argument).unwrap();
        self.with(|target| match function {
            "walk" => walked(target),
            "resolve" => resolved(target, &asked),
            "probe" => probed(target, &asked["key"]),
            "probe_point" => {
                let place = asked["y"].as_f64().unwrap_or_default() / 40.0;
                probed(target, &json!(place.floor() as u64))
            }
            "probe_focus" if target.focused => probed(target, &json!(3)),
            "probe_focus" => json!({ "status": "nowhere" }).to_string(),
            "page_values" => json!({ "digest": target.field }).to_string(),
            "focus_for_fill" => json!({ "status": "ok", "kind": "type" }).to_string(),
            "value_of" => json!({
                "status": "ok", "value": target.field, "secret": false, "filled": true,
                "checked": null,
            })
            .to_string(),
            "scroll" => json!({ "moved": true, "y": 600.0, "bottom": 900.0 }).to_string(),
            "get" => json!({ "status": "ok", "value": target.field }).to_string(),
            "count" => "1".into(),
            "visible" | "text_has" => "true".into(),
            "secrets" => json!({
                "document": format!("d{}", target.document), "scroll": [0.0, 0.0], "boxes": [SECRET],
            })
            .to_string(),
            "watch_begin" => format!("{}:{}", target.document, target.changes),
            "watch_peek" => match since(target, &asked) {
                Some(changes) => json!({ "status": "ok", "changes": changes, "quiet": 9 }),
                None => json!({ "status": "gone" }),
            }
            .to_string(),
            "watch_end" => match since(target, &asked) {
                Some(changes) => json!({
                    "status": "ok", "appeared": [], "vanished": [],
                    "changed": vec!["a field"; changes as usize], "messages": [], "background": [],
                    "scroll": null, "url": null, "mutations": changes,
                }),
                None => json!({ "status": "gone" }),
            }
            .to_string(),
            other => panic!("the fake page has no `{other}`"),
        })
    }

    async fn click(&self, press: Press, patience: Duration) -> Result<(), PageError> {
        self.check(At::Click, patience).await?;
        let place = (press.y / 40.0).floor();
        let found = CONTROLS.iter().zip(1..).find(|(_, key)| f64::from(*key) == place);
        found.map_or(Ok(()), |(control, _)| self.pressed(*control))
    }

    async fn hover(&self, at: Press, patience: Duration) -> Result<(), PageError> {
        self.check(At::Hover, patience).await?;
        self.web.write(format!("hover {}, {}", at.x, at.y));
        Ok(())
    }

    async fn press(&self, chord: &Chord, patience: Duration) -> Result<(), PageError> {
        self.check(At::Press, patience).await?;
        self.web.write(format!("key {chord}"));
        Ok(())
    }

    async fn insert_text(&self, text: &str, patience: Duration) -> Result<(), PageError> {
        self.check(At::Insert, patience).await?;
        self.web.write(format!("typed {text}"));
        self.with(|target| {
            target.field = text.to_owned();
            target.changes += 1;
        })
    }

    async fn answer_dialog(&self, accept: bool, _text: Option<&str>) -> Result<(), PageError> {
        self.web.call(At::Dialog, Some(&self.key)).await?;
        self.with(|target| target.dialog = None)?;
        self.web.write(format!("dialog {}", if accept { "accepted" } else { "dismissed" }));
        self.web.hit(&self.key, PageEvent::DialogClosed);
        Ok(())
    }

    fn console(&self, most: usize) -> ConsoleLines {
        let kept = self.with(|target| {
            let from = target.console.len().saturating_sub(most);
            ConsoleLines { lines: target.console[from..].to_vec(), dropped: 0 }
        });
        kept.unwrap_or_default()
    }

    async fn screenshot(&self, shot: Shot, patience: Duration) -> Result<Taken, PageError> {
        let fault = self.check(At::Picture, patience).await?;
        let area = match shot {
            Shot::Viewport => [0.0, 0.0, 800.0, 600.0],
            Shot::FullPage => [0.0, 0.0, 800.0, 900.0],
            Shot::Box(area) => area,
        };
        let png = if fault == Some(Fault::Garbage) { b"rubbish".to_vec() } else { blank(area) };
        Ok(Taken { png, area, cut: false })
    }
}

/// Changes since the token was given; none when the document is another.
fn since(target: &Target, asked: &Value) -> Option<u32> {
    let (document, changes) = asked["token"].as_str()?.split_once(':')?;
    let same = document == target.document.to_string();
    same.then(|| target.changes - changes.parse::<u32>().unwrap_or_default())
}
