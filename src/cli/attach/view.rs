//! How the view is drawn: actors left, a run's steps right, held acts below. Pure: a model into a
//! buffer.
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Widget};

use crate::cli::attach::keys::KEYS;
use crate::cli::attach::model::{Mode, Model};
use crate::cli::plain::{one_line, wrapped};
use crate::control::sight::{ActorSight, HoldSight, RunSight};

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Colours,
    Plain,
}

impl Paint {
    fn of(self, colour: Color) -> Style {
        match self {
            Self::Colours => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }

    fn dim(self) -> Style {
        match self {
            Self::Colours => Style::new().add_modifier(Modifier::DIM),
            Self::Plain => Style::new(),
        }
    }
}

const BOLD: Style = Style::new().add_modifier(Modifier::BOLD);

/// Draws everything.
pub fn draw(model: &Model, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let held = held(model, paint, area.width);
    let height = u16::try_from(held.rows.len()).unwrap_or(u16::MAX);
    let below = height.saturating_add(2).min((area.height / 2).max(3));
    let (foot, style) = foot(model, paint);
    let foot = wrapped(&foot, usize::from(area.width));
    let last = u16::try_from(foot.len()).unwrap_or(1).min(3);
    let rows = [1, below, last].map(Constraint::Length);
    let [top, middle, bottom, last] =
        Layout::vertical([rows[0], Constraint::Min(3), rows[1], rows[2]]).areas(area);
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(44), Constraint::Fill(1)]).areas(middle);
    title(model, paint).render(top, buffer);
    actors(model, paint, left, buffer);
    steps(model, paint, right, buffer);
    held.show(bottom, buffer);
    Paragraph::new(foot.join("\n")).style(style).render(last, buffer);
    if model.mode == Mode::Help {
        help(area, buffer);
    }
}

fn title(model: &Model, paint: Paint) -> Line<'static> {
    let name = Span::styled(" strawmanus ", BOLD);
    let Some(why) = &model.lost else {
        let running = model.sight.runs.iter().filter(|run| run.state == "running").count();
        let held = model.holds().len();
        let pid = model.sight.pid;
        return Line::from(vec![
            name,
            Span::raw(format!("daemon {pid} · {running} running · {held} held")),
        ]);
    };
    let seen = if model.sight.pid == 0 { "" } else { "; this is what was seen last" };
    Line::from(vec![name, Span::styled(format!("{}{seen}", one_line(why)), paint.of(Color::Red))])
}

fn actors(model: &Model, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let lines: Vec<_> =
        model.sight.actors.iter().flat_map(|actor| actor_lines(actor, paint)).collect();
    let room = usize::from(area.height.saturating_sub(2));
    let down = model.tree_down.min(lines.len().saturating_sub(room));
    let title = match lines.len().saturating_sub(down + room) {
        0 => " actors ".to_owned(),
        more => format!(" actors ({more} more: j) "),
    };
    let lines: Vec<_> = lines.into_iter().skip(down).collect();
    let block = Block::bordered().title(Line::styled(title, BOLD));
    Paragraph::new(lines).block(block).render(area, buffer);
}

fn actor_lines(actor: &ActorSight, paint: Paint) -> Vec<Line<'static>> {
    let indent = " ".repeat(actor.depth);
    let mut spans = vec![Span::styled(format!("{indent}{}", one_line(&actor.name)), BOLD)];
    if actor.restarts > 0 {
        spans.push(Span::styled(format!(" ↻{}", actor.restarts), paint.of(Color::Yellow)));
    }
    if actor.mailbox > 0 {
        spans.push(Span::styled(format!(" ✉{}", actor.mailbox), paint.of(Color::Cyan)));
    }
    spans.push(Span::styled(format!(" {}", one_line(&actor.doing)), paint.dim()));
    let error = actor
        .last_error
        .as_ref()
        .map(|why| Line::styled(format!("{indent}  ✗ {}", one_line(why)), paint.of(Color::Red)));
    std::iter::once(Line::from(spans)).chain(error).collect()
}

fn steps(model: &Model, paint: Paint, area: Rect, buffer: &mut Buffer) {
    let Some(run) = model.shown_run() else {
        let title = match model.run {
            Some(id) => format!(" run {id} is not among the newest "),
            None if model.sight.pid == 0 => " runs ".to_owned(),
            None => " no runs yet ".to_owned(),
        };
        return Block::bordered().title(Line::styled(title, BOLD)).render(area, buffer);
    };
    let at = model.sight.runs.iter().position(|other| other.id == run.id).unwrap_or_default();
    let title = format!(" {} {} ({} of {}) ", run.id, run.state, at + 1, model.sight.runs.len());
    let block = Block::bordered().title(Line::styled(title, BOLD)).title_bottom(spent(run));
    let inner = block.inner(area);
    block.render(area, buffer);
    let told = run.told.iter().flat_map(|told| &told.lines);
    let lines: Vec<_> = told.map(|line| step_line(line, paint)).collect();
    let shown = lines.len().saturating_sub(model.steps_back);
    let from = shown.saturating_sub(usize::from(inner.height));
    Paragraph::new(lines[from..shown].to_vec()).render(inner, buffer);
}

/// Steps, tokens and money so far.
fn spent(run: &RunSight) -> String {
    let Some(told) = &run.told else { return " … ".into() };
    let cost = told.cost.map(|cost| format!(" · ${cost:.2}")).unwrap_or_default();
    format!(" {} steps · {} tokens{cost} ", told.steps, told.tokens)
}

fn step_line(text: &str, paint: Paint) -> Line<'static> {
    let style = match text.trim_start().chars().next() {
        Some('→') => paint.dim(),
        Some('⚠' | '?' | '✋' | '…') => paint.of(Color::Yellow),
        Some('✗') => paint.of(Color::Red),
        Some('↻') => paint.of(Color::Cyan),
        _ => Style::new(),
    };
    Line::styled(one_line(text), style)
}

/// What is held, and where the chosen act stands in it.
struct Held {
    rows: Vec<Line<'static>>,
    chosen: usize,
}

impl Held {
    /// Shows as much as there is room for; the chosen act is in it.
    fn show(self, area: Rect, buffer: &mut Buffer) {
        let block = Block::bordered().title(Line::styled(" held for you ", BOLD));
        let room = usize::from(block.inner(area).height);
        let above = self.chosen.min(self.rows.len().saturating_sub(room));
        let rows: Vec<_> = self.rows.into_iter().skip(above).collect();
        Paragraph::new(rows).block(block).render(area, buffer);
    }
}

fn held(model: &Model, paint: Paint, width: u16) -> Held {
    let width = usize::from(width.saturating_sub(2));
    let chosen = model.chosen_hold().map(|hold| hold.id);
    let mut held = Held { rows: Vec::new(), chosen: 0 };
    for hold in model.holds() {
        let is_chosen = Some(hold.id) == chosen;
        if is_chosen {
            held.chosen = held.rows.len();
        }
        for (text, style) in hold_lines(hold, is_chosen, paint) {
            held.rows.extend(wrapped(&text, width).into_iter().map(|row| Line::styled(row, style)));
        }
    }
    if held.rows.is_empty() {
        held.rows.push(Line::styled(model.nothing_held(), paint.dim()));
    }
    held
}

fn hold_lines(hold: &HoldSight, chosen: bool, paint: Paint) -> Vec<(String, Style)> {
    let run = hold.run.as_ref().map(|run| format!(" of {run}")).unwrap_or_default();
    let state = if hold.state == "waiting" { "" } else { " (approved)" };
    let head = format!("{}{run}{state}: {}", hold.id, one_line(&hold.what));
    if !chosen {
        return vec![(format!("  {head}"), Style::new())];
    }
    let mut lines = vec![
        (format!("▶ {head}"), BOLD),
        (format!("    on: {}", one_line(&hold.url)), Style::new()),
        (format!("   why: {}", one_line(&hold.why)), paint.of(Color::Yellow)),
    ];
    if !hold.payload.is_empty() {
        lines.push((format!(" sends: {}", one_line(&hold.payload)), Style::new()));
    }
    lines
}

fn foot(model: &Model, paint: Paint) -> (String, Style) {
    let text = match model.mode {
        Mode::Confirming(id) => {
            let ask = format!(" approve {id}? it is done at once. Enter: yes · any other key: no");
            return (ask, paint.of(Color::Yellow).add_modifier(Modifier::REVERSED));
        }
        _ if !model.notice.is_empty() => format!(" {}", one_line(&model.notice)),
        _ if model.holds().is_empty() => " Tab runs · PgUp/PgDn steps · ? help · q leave".into(),
        _ => " y approve · n deny · ↑↓ choose · Tab runs · ? help · q leave".into(),
    };
    (text, Style::new())
}

fn help(area: Rect, buffer: &mut Buffer) {
    let lines: Vec<_> =
        KEYS.iter().map(|(key, what)| Line::raw(format!(" {key:<16}{what}"))).collect();
    let [across] = Layout::horizontal([Constraint::Max(62)]).flex(CENTRE).areas(area);
    let height = u16::try_from(lines.len() + 2).unwrap_or(u16::MAX);
    let [box_] = Layout::vertical([Constraint::Max(height)]).flex(CENTRE).areas(across);
    Clear.render(box_, buffer);
    let block = Block::bordered().title(Line::styled(" keys ", BOLD));
    Paragraph::new(lines).block(block).render(box_, buffer);
}

const CENTRE: ratatui::layout::Flex = ratatui::layout::Flex::Center;
