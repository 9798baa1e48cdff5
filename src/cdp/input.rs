//! The hands: a mouse and a keyboard.
//!
//! The events of one act are sent together and in order; what opens a dialog is done when the
//! dialog is open, because the browser acknowledges the event only after it is answered.
use std::time::Duration;

use chromiumoxide_cdp::cdp::browser_protocol::input::{
    DispatchKeyEventParams, DispatchKeyEventType, DispatchMouseEventParams, DispatchMouseEventType,
    InsertTextParams, MouseButton,
};
use chromiumoxide_types::Command;
use futures_util::future::try_join_all;
use serde::de::IgnoredAny;
use tokio::time::Instant;

use crate::cdp::attached::{Attached, Interrupted};
use crate::cdp::errors::{CallError, FAILED};
use crate::cdp::keyboard::{Key, key};
use crate::domain::keys::Chord;
use crate::ports::page::{PageError, Press};

const ALT: i64 = 1;
const CONTROL: i64 = 2;
const META: i64 = 4;
const SHIFT: i64 = 8;

impl Attached {
    pub async fn click_at(&self, press: Press, patience: Duration) -> Result<(), PageError> {
        let event = |kind| DispatchMouseEventParams::new(kind, press.x, press.y);
        let button = |kind| {
            let mut event = event(kind);
            event.button = Some(MouseButton::Left);
            event.click_count = Some(1);
            event
        };
        let mut down = button(DispatchMouseEventType::MousePressed);
        down.buttons = Some(1);
        let moved = event(DispatchMouseEventType::MouseMoved);
        let up = button(DispatchMouseEventType::MouseReleased);
        self.send_input(vec![moved, down, up], ("click", patience)).await
    }

    pub async fn hover_at(&self, at: Press, patience: Duration) -> Result<(), PageError> {
        let moved = DispatchMouseEventParams::new(DispatchMouseEventType::MouseMoved, at.x, at.y);
        self.send_input(vec![moved], ("hover", patience)).await
    }

    pub async fn press_chord(&self, chord: &Chord, patience: Duration) -> Result<(), PageError> {
        self.send_input(key_events(chord), ("press", patience)).await
    }

    pub async fn insert(&self, text: &str, patience: Duration) -> Result<(), PageError> {
        self.send_input(vec![InsertTextParams::new(text)], ("insert text", patience)).await
    }

    async fn send_input<C: Command>(
        &self,
        events: Vec<C>,
        (what, patience): (&'static str, Duration),
    ) -> Result<(), PageError> {
        let number = {
            let page = self.standing.borrow();
            if page.dialog.is_some() {
                return Err(PageError::DialogOpen);
            }
            page.number
        };
        let sent = events
            .into_iter()
            .map(|event| self.connection.ask::<IgnoredAny>(Some(&self.session), event, patience));
        let acknowledged = tokio::select! {
            biased;
            all = try_join_all(sent) => all,
            () = self.dialog() => return Ok(()),
        };
        let error = match acknowledged {
            Ok(_) => return Ok(()),
            Err(error) => error,
        };
        let failed = matches!(error, CallError::Protocol { code: FAILED, .. });
        let moved_on = || {
            let page = self.standing.borrow();
            page.life.check().is_ok()
                && (page.number != number || page.is_under_way(Instant::now()))
        };
        if failed && moved_on() {
            // The event did what it could: it made the page go elsewhere.
            return Ok(());
        }
        match self.explain(Interrupted::Call(error), number, (what, patience)).await {
            PageError::Navigated { .. } => Ok(()),
            error => Err(error),
        }
    }
}

/// Presses the modifiers, then the key, and lets them go in the opposite order.
fn key_events(chord: &Chord) -> Vec<DispatchKeyEventParams> {
    let held = [
        (chord.control, CONTROL, "Control", "ControlLeft", 17),
        (chord.shift, SHIFT, "Shift", "ShiftLeft", 16),
        (chord.alt, ALT, "Alt", "AltLeft", 18),
        (chord.meta, META, "Meta", "MetaLeft", 91),
    ];
    let held = || held.into_iter().filter(|(held, ..)| *held);
    let modifier = |name: &'static str, code: &'static str, virtual_code| Key {
        key: name.into(),
        code: code.into(),
        virtual_code,
        text: None,
    };
    let (mut down, mut up, mut modifiers) = (Vec::new(), Vec::new(), 0);
    for (_, bit, name, code, virtual_code) in held() {
        let key = modifier(name, code, virtual_code);
        up.push(event(DispatchKeyEventType::KeyUp, &key, modifiers));
        modifiers |= bit;
        down.push(event(DispatchKeyEventType::RawKeyDown, &key, modifiers));
    }
    let mut main = key(&chord.key, chord.shift);
    if chord.control || chord.alt || chord.meta {
        // A shortcut types nothing.
        main.text = None;
    }
    let kind = match main.text {
        Some(_) => DispatchKeyEventType::KeyDown,
        None => DispatchKeyEventType::RawKeyDown,
    };
    down.push(event(kind, &main, modifiers));
    down.push(event(DispatchKeyEventType::KeyUp, &Key { text: None, ..main }, modifiers));
    down.extend(up.into_iter().rev());
    down
}

fn event(kind: DispatchKeyEventType, key: &Key<'_>, modifiers: i64) -> DispatchKeyEventParams {
    let mut event = DispatchKeyEventParams::new(kind);
    event.modifiers = Some(modifiers);
    event.key = Some(key.key.clone().into_owned());
    event.code = Some(key.code.clone().into_owned());
    event.windows_virtual_key_code = Some(key.virtual_code);
    event.text = key.text.clone().map(Into::into);
    event.unmodified_text = event.text.clone();
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(chord: &str) -> Vec<(DispatchKeyEventType, String, i64, Option<String>)> {
        let events = key_events(&chord.parse().unwrap()).into_iter();
        events
            .map(|event| (event.r#type, event.key.unwrap(), event.modifiers.unwrap(), event.text))
            .collect()
    }

    #[test]
    fn modifiers_are_held_around_the_key() {
        use DispatchKeyEventType::{KeyDown, KeyUp, RawKeyDown};
        assert_eq!(
            told("Control+Shift+a"),
            [
                (RawKeyDown, "Control".into(), CONTROL, None),
                (RawKeyDown, "Shift".into(), CONTROL | SHIFT, None),
                (RawKeyDown, "A".into(), CONTROL | SHIFT, None),
                (KeyUp, "A".into(), CONTROL | SHIFT, None),
                (KeyUp, "Shift".into(), CONTROL, None),
                (KeyUp, "Control".into(), 0, None),
            ]
        );
        assert_eq!(
            told("Enter"),
            [(KeyDown, "Enter".into(), 0, Some("\r".into())), (KeyUp, "Enter".into(), 0, None),]
        );
    }
}
