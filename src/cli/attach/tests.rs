use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::{Color, Modifier};

use crate::cli::attach::keys::Key;
use crate::cli::attach::model::{Heard, Mode, Model, Wish, decision};
use crate::cli::attach::view::{Paint, draw};
use crate::control::answer::{Answer, Failure};
use crate::control::sight::{ActorSight, HoldSight, RunSight, RunTold, Sight};
use crate::domain::ids::{HoldId, RunId, TabId};

fn actor(depth: usize, name: &str, doing: &str) -> ActorSight {
    ActorSight { name: name.into(), depth, doing: doing.into(), ..ActorSight::default() }
}

fn run(id: u32, state: &str, lines: &[&str]) -> RunSight {
    let lines: Vec<_> = lines.iter().map(|line| (*line).to_owned()).collect();
    let told = RunTold { steps: lines.len() / 2, lines, tokens: 12_345, cost: Some(0.0421) };
    RunSight {
        id: RunId(id),
        task: format!("task {id}"),
        state: state.into(),
        began: "2026-11-30T12:00:00Z".parse().unwrap(),
        ended: None,
        told: Some(told),
    }
}

fn hold(id: u32, what: &str) -> HoldSight {
    HoldSight {
        id: HoldId(id),
        what: what.into(),
        why: "the button says `Send`".into(),
        url: "http://mail.localhost:8080/compose".into(),
        payload: "to: ana@example.com\ntext: See you at the café".into(),
        state: "waiting".into(),
        tab: TabId(2),
        at: "2026-11-30T12:00:09Z".parse().unwrap(),
        run: Some("r7".into()),
    }
}

fn sight() -> Sight {
    let mut actors = vec![
        actor(0, "root", "watching over 4"),
        actor(1, "guard", "judging click button \"Send\""),
        actor(1, "sessions", "watching over 1"),
        actor(2, "session default", "watching over 2"),
        actor(3, "browser of default", "browser pid 4242"),
        actor(4, "tab t2", "clicking button \"Send\""),
    ];
    actors[5].restarts = 2;
    actors[5].mailbox = 3;
    actors[5].last_error = Some("the page's process is gone".into());
    let steps = [
        "run r7 (script): write to Ana",
        "  1  open http://mail.localhost:8080/",
        "     → navigated: Inbox \x1b]0;owned\x07",
        "  2  click button \"Send\"",
        "     ⚠ held for a person as h1: the button says `Send`",
    ];
    let runs = vec![run(7, "running", &steps), run(6, "complete", &["run r6", "     Complete"])];
    Sight { actors, runs, holds: Some(vec![hold(1, "click button \"Send\"")]), pid: 99 }
}

fn model(sight: Sight) -> Model {
    let mut model = Model::new(None);
    assert_eq!(model.update(Heard::Seen(Box::new(sight))), None);
    model
}

fn press(model: &mut Model, keys: &[Key]) -> Vec<Wish> {
    keys.iter().filter_map(|key| model.update(Heard::Key(*key))).collect()
}

fn drawn(model: &Model, width: u16, height: u16) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let show = |frame: &mut ratatui::Frame<'_>| {
        draw(model, Paint::Colours, frame.area(), frame.buffer_mut());
    };
    terminal.draw(show).unwrap();
    terminal
}

#[test]
fn everything_is_there_on_the_smallest_terminal() {
    insta::assert_snapshot!(drawn(&model(sight()), 80, 24).backend());
}

#[test]
fn a_wide_terminal_shows_more() {
    insta::assert_snapshot!(drawn(&model(sight()), 130, 30).backend());
}

#[test]
fn nothing_yet_and_nobody_there() {
    let empty = Model::new(None);
    insta::assert_snapshot!(drawn(&empty, 60, 12).backend());
}

#[test]
fn a_daemon_that_goes_is_said_and_nothing_can_be_approved() {
    let mut model = model(sight());
    press(&mut model, &[Key::Yes]);
    model.update(Heard::Lost("no daemon is running; the next command starts one".into()));
    assert_eq!(press(&mut model, &[Key::Enter, Key::Yes, Key::Enter, Key::No]), []);
    insta::assert_snapshot!(drawn(&model, 100, 20).backend());
    model.update(Heard::Seen(Box::new(sight())));
    assert_eq!(model.lost, None, "it came back");
}

#[test]
fn the_help_names_every_key_and_any_key_ends_it() {
    let mut model = model(sight());
    press(&mut model, &[Key::Help]);
    insta::assert_snapshot!(drawn(&model, 80, 24).backend());
    assert_eq!(press(&mut model, &[Key::No]), [], "that key only closed the help");
    assert_eq!(model.mode, Mode::Looking);
}

#[test]
fn an_approval_is_asked_for_once_more() {
    let mut model = model(sight());
    assert_eq!(press(&mut model, &[Key::Yes]), []);
    insta::assert_snapshot!(drawn(&model, 80, 24).backend());
    assert_eq!(press(&mut model, &[Key::Yes]), [], "twice the same key is no confirmation");
    assert_eq!(model.mode, Mode::Looking);
    assert_eq!(press(&mut model, &[Key::Yes, Key::Enter]), [Wish::Approve(HoldId(1))]);
    assert_eq!(press(&mut model, &[Key::Yes, Key::Enter, Key::No]), [], "it is being decided");
    model.update(decision(HoldId(1), Ok(Answer::told("changed: click", serde_json::json!({})))));
    assert_eq!(model.notice, "changed: click");
    assert_eq!(press(&mut model, &[Key::No]), [Wish::Deny(HoldId(1))], "if it is still held");
}

#[test]
fn no_other_act_is_approved_than_the_one_that_was_asked_about() {
    let mut two = sight();
    two.holds = Some(vec![hold(1, "click \"Send\""), hold(2, "click \"Pay\"")]);
    let mut model = model(two.clone());
    press(&mut model, &[Key::NextHold, Key::Yes]);
    assert_eq!(model.mode, Mode::Confirming(HoldId(2)));
    let only = |id, what| Sight { holds: Some(vec![hold(id, what)]), ..sight() };
    model.update(Heard::Seen(Box::new(only(1, "click \"Send\""))));
    assert_eq!(press(&mut model, &[Key::Enter]), [], "h2 went away before it was confirmed");
    assert_eq!(press(&mut model, &[Key::No]), [], "the choice fell on h1 by itself");
    assert_eq!(press(&mut model, &[Key::No]), [Wish::Deny(HoldId(1))]);
    model.update(Heard::Seen(Box::new(two.clone())));
    assert_eq!(press(&mut model, &[Key::Yes, Key::Enter]), [Wish::Approve(HoldId(2))]);

    model = self::model(sight());
    for _ in 0..9 {
        model.update(Heard::Seen(Box::new(only(2, "click \"Pay\""))));
    }
    assert_eq!(press(&mut model, &[Key::No]), [Wish::Deny(HoldId(2))], "that is long seen");
}

#[test]
fn a_hold_that_comes_does_not_move_the_choice() {
    let mut model = model(sight());
    let mut more = sight();
    more.holds = Some(vec![hold(0, "older"), hold(1, "click button \"Send\"")]);
    model.update(Heard::Seen(Box::new(more)));
    assert_eq!(press(&mut model, &[Key::No]), [Wish::Deny(HoldId(1))]);
}

#[test]
fn the_chosen_act_is_in_view_however_many_there_are() {
    let mut many = sight();
    many.holds = Some((1..=40).map(|id| hold(id, &format!("pay bill {id}"))).collect());
    let mut model = model(many);
    press(&mut model, &[Key::NextHold; 34]);
    let screen = drawn(&model, 80, 24);
    insta::assert_snapshot!(screen.backend());
}

#[test]
fn a_run_is_chosen_and_the_newest_is_followed() {
    let mut model = model(sight());
    assert_eq!(press(&mut model, &[Key::NewerRun]), [], "there is none");
    assert_eq!(press(&mut model, &[Key::OlderRun]), [Wish::Look]);
    assert_eq!(model.run, Some(RunId(6)));
    assert_eq!(press(&mut model, &[Key::OlderRun]), []);
    let mut newer = sight();
    newer.runs.insert(0, run(8, "running", &["run r8"]));
    model.update(Heard::Seen(Box::new(newer.clone())));
    assert_eq!(model.shown_run().unwrap().id, RunId(6), "a chosen run stays");
    press(&mut model, &[Key::NewerRun, Key::NewerRun]);
    assert_eq!((model.run, model.shown_run().unwrap().id), (None, RunId(8)));
    newer.runs.insert(0, run(9, "running", &["run r9"]));
    model.update(Heard::Seen(Box::new(newer)));
    assert_eq!(model.shown_run().unwrap().id, RunId(9));
}

#[test]
fn steps_and_actors_scroll_and_stop_at_their_ends() {
    let mut model = model(sight());
    press(&mut model, &[Key::StepsUp, Key::StepsUp]);
    assert_eq!(model.steps_back, 4, "the first line stays in view");
    press(&mut model, &[Key::StepsDown]);
    assert_eq!(model.steps_back, 0);
    press(&mut model, &[Key::TreeDown; 20]);
    let screen = drawn(&model, 80, 14);
    assert!(screen.backend().to_string().contains("tab t2"), "{}", screen.backend());
    press(&mut model, &[Key::TreeUp; 20]);
    assert_eq!(model.tree_down, 0);
}

#[test]
fn a_refused_decision_says_why_and_what_to_do() {
    let mut model = model(sight());
    let failure = Failure::new("refused", "h1 is expired").hint("ask for the act again");
    model.update(decision(HoldId(1), Ok(Answer::failed(1, failure))));
    assert_eq!(model.notice, "h1 is expired; ask for the act again");
    model.update(Heard::Decided(HoldId(1), "what was said is long ".repeat(8)));
    let screen = drawn(&model, 80, 24).backend().to_string();
    assert_eq!(screen.matches("said").count(), 8, "all of it: {screen}");
}

#[test]
fn without_colours_there_are_none_at_any_size() {
    let mut asked = model(sight());
    press(&mut asked, &[Key::Yes]);
    let gone = {
        let mut model = model(sight());
        model.update(Heard::Lost("gone".into()));
        model
    };
    for model in [asked, gone, Model::new(Some(RunId(3)))] {
        for (width, height) in [(80, 24), (20, 5), (3, 2), (1, 1), (200, 60)] {
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            let show = |frame: &mut ratatui::Frame<'_>| {
                draw(&model, Paint::Plain, frame.area(), frame.buffer_mut());
            };
            let shown = terminal.draw(show).unwrap();
            let plain = |cell: &ratatui::buffer::Cell| {
                let colours = (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
                colours && !cell.modifier.contains(Modifier::DIM)
            };
            assert!(shown.buffer.content().iter().all(plain), "{width}x{height}");
        }
    }
    let coloured = drawn(&model(sight()), 80, 24);
    let cells = coloured.backend().buffer().content();
    assert!(cells.iter().any(|cell| cell.fg == Color::Yellow), "else this proves nothing");
}
