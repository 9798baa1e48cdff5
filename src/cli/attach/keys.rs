//! What the keys mean, whatever they do at the moment.
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a person wants, said with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Leave,
    Help,
    Yes,
    No,
    Enter,
    Back,
    OlderRun,
    NewerRun,
    NextHold,
    LastHold,
    StepsUp,
    StepsDown,
    TreeUp,
    TreeDown,
}

/// The keys and what they do, as the help shows them.
pub const KEYS: &[(&str, &str)] = &[
    ("→ or Tab", "show the steps of an older run"),
    ("← or Shift-Tab", "show the steps of a newer run"),
    ("PgUp, PgDn", "scroll the steps"),
    ("j, k", "scroll the actors down, up"),
    ("↓, ↑", "choose among the held acts"),
    ("y, then Enter", "approve the chosen act: it is done"),
    ("n", "deny it: it is never done"),
    ("Esc", "take a key back"),
    ("?", "show this"),
    ("q or Ctrl-C", "leave; the daemon and its runs go on"),
];

/// Returns what an event of the terminal means; nothing for what means nothing here.
pub fn meaning(event: &Event) -> Option<Key> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_of(key),
        _ => None,
    }
}

fn key_of(key: &KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return matches!(key.code, KeyCode::Char('c' | 'd')).then_some(Key::Leave);
    }
    Some(match key.code {
        KeyCode::Char('q') => Key::Leave,
        KeyCode::Char('?') => Key::Help,
        KeyCode::Char('y') => Key::Yes,
        KeyCode::Char('n') => Key::No,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Back,
        KeyCode::Right | KeyCode::Tab => Key::OlderRun,
        KeyCode::Left | KeyCode::BackTab => Key::NewerRun,
        KeyCode::Down => Key::NextHold,
        KeyCode::Up => Key::LastHold,
        KeyCode::PageUp => Key::StepsUp,
        KeyCode::PageDown => Key::StepsDown,
        KeyCode::Char('k') => Key::TreeUp,
        KeyCode::Char('j') => Key::TreeDown,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        meaning(&Event::Key(KeyEvent::new(code, modifiers)))
    }

    #[test]
    fn ctrl_c_leaves_and_no_chord_approves() {
        assert_eq!(press(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Leave));
        assert_eq!(press(KeyCode::Char('y'), KeyModifiers::CONTROL), None);
        assert_eq!(press(KeyCode::Char('y'), KeyModifiers::NONE), Some(Key::Yes));
        assert_eq!(meaning(&Event::Resize(80, 24)), None);
        let mut released = KeyEvent::new(KeyCode::Char('y'), KeyModifiers::NONE);
        released.kind = KeyEventKind::Release;
        assert_eq!(meaning(&Event::Key(released)), None, "one press is one key");
    }
}
