//! The rules. Each returns the lines that it objects to, and why.
use crate::source::{Line, Source};
use crate::{FLOORS, MAP, OWNERS, PURE};

pub type Rule = fn(&Source) -> Vec<(usize, String)>;

const LONGEST_FILE: usize = 600;
const LONGEST_FUNCTION: usize = 60;

/// What a pure floor would reach the world with.
const WORLD: &[&str] = &[
    "tokio",
    "ractor",
    "std::fs",
    "std::io",
    "std::net",
    "std::process",
    "std::env",
    "std::thread",
    "Instant",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
];

/// What only a script that runs in a page says.
const SCRIPT: &[&str] = &[
    "querySelector",
    "getElementBy",
    "addEventListener",
    "getBoundingClientRect",
    "document.body",
    "document.createElement",
    "window.",
    "function(",
    "function (",
];

/// In `actors/`, what all actors stand on.
const SHARED_BY_ACTORS: &[&str] = &["world", "settle"];

pub fn names_only_lower_floors(source: &Source) -> Vec<(usize, String)> {
    if source.floor == MAP {
        return Vec::new();
    }
    let row = FLOORS.iter().find(|(floor, _)| *floor == source.floor);
    let allowed = row.map_or(&[][..], |(_, names)| names);
    lines(source, |line| {
        let strange = |name: &String| *name != source.floor && !allowed.contains(&name.as_str());
        let name = our_paths(&line.code).map(first_part).find(strange)?;
        Some(format!("`{}` may not name `{name}`; see FLOORS in tests/floors.rs", source.floor))
    })
}

pub fn names_no_group(source: &Source) -> Vec<(usize, String)> {
    lines(source, |line| {
        let group = our_paths(&line.code).any(|path| path.starts_with(['{', '*']));
        group.then(|| "a group hides its floors; write one `use crate::floor::…` for each".into())
    })
}

pub fn says_no_super(source: &Source) -> Vec<(usize, String)> {
    lines(source, |line| {
        let says = has_word(&line.code, "super::");
        says.then(|| "`super` does not say which floor it names; write `crate::floor::…`".into())
    })
}

pub fn names_no_other_actor(source: &Source) -> Vec<(usize, String)> {
    if source.floor != "actors" {
        return Vec::new();
    }
    let own = source.path.trim_start_matches("src/actors/").trim_end_matches(".rs");
    let own = own.split('/').next().unwrap_or_default();
    lines(source, |line| {
        let actors = our_paths(&line.code).filter_map(|path| path.strip_prefix("actors::"));
        let strange = |name: &String| name != own && !SHARED_BY_ACTORS.contains(&name.as_str());
        let name = actors.map(first_part).find(strange)?;
        Some(format!("an actor may not name the actor `{name}`; ask it by its messages"))
    })
}

/// A message that is added must not be swallowed by an arm for the rest.
pub fn takes_every_message(source: &Source) -> Vec<(usize, String)> {
    if !["actors", "supervision"].contains(&source.floor.as_str()) {
        return Vec::new();
    }
    let functions = source.functions().into_iter();
    let handles = functions.filter(|it| it.name == "handle" || it.name == "handle_supervisor_evt");
    let arms = handles.flat_map(|it| &source.lines[it.first..=it.last]).filter(|line| {
        let code = line.code.trim();
        code.starts_with("_ =>") || code.starts_with("_ if ")
    });
    arms.map(|line| (line.number, "`handle` names every message; write no `_ =>`".into())).collect()
}

pub fn spawns_in_supervision(source: &Source) -> Vec<(usize, String)> {
    if source.floor == "supervision" {
        return Vec::new();
    }
    lines(source, |line| {
        let code = &line.code;
        let by_name = ["spawn_linked", "spawn_instant", "ActorRuntime", "ractor::spawn"];
        // A task, a thread and a program are no actors.
        let others = ["tokio::spawn(", "task::spawn(", "thread::spawn("];
        let others: usize = others.iter().map(|it| code.matches(it).count()).sum();
        let plain = code.matches("::spawn(").count() > others;
        let spawns = plain || by_name.iter().any(|name| code.contains(name));
        spawns.then(|| {
            "an actor outside the tree is never started again; spawn it in `supervision`".into()
        })
    })
}

pub fn names_own_crates(source: &Source) -> Vec<(usize, String)> {
    lines(source, |line| {
        let foreign = |(name, owner): &&(&str, &str)| {
            let named = has_word(&line.code, &format!("{name}::"));
            named && !owner.split(", ").any(|owner| owner == source.floor)
        };
        let (name, owner) = OWNERS.iter().find(foreign)?;
        Some(format!("only `{owner}` names the crate `{name}`; go through a port"))
    })
}

pub fn reads_environment_in_config(source: &Source) -> Vec<(usize, String)> {
    if source.floor == "config" {
        return Vec::new();
    }
    lines(source, |line| {
        let reads = ["env::var", "env::set_var", "env::remove_var", "option_env!"];
        let reads = reads.iter().any(|it| line.code.contains(it));
        reads.then(|| "only `config` reads the environment; take what it read".into())
    })
}

pub fn stays_pure(source: &Source) -> Vec<(usize, String)> {
    if !PURE.contains(&source.floor.as_str()) {
        return Vec::new();
    }
    lines(source, |line| {
        let touched = WORLD.iter().find(|it| has_word(&line.code, it))?;
        Some(format!("`{}` is pure; leave `{touched}` to a higher floor", source.floor))
    })
}

pub fn writes_no_script(source: &Source) -> Vec<(usize, String)> {
    // The practice web makes pages, and a page may hold a script.
    if source.floor == "practice" {
        return Vec::new();
    }
    lines(source, |line| {
        let said = SCRIPT.iter().find(|it| line.text.contains(**it))?;
        Some(format!("a script of the page (`{said}`) belongs into a .js file of `perception`"))
    })
}

pub fn keeps_files_short(source: &Source) -> Vec<(usize, String)> {
    let length = source.lines.len();
    let long = length > LONGEST_FILE;
    let say = || format!("{length} lines before the tests, {LONGEST_FILE} at most; split the file");
    long.then(|| (LONGEST_FILE + 1, say())).into_iter().collect()
}

pub fn keeps_functions_short(source: &Source) -> Vec<(usize, String)> {
    let complain = |function: crate::source::Function| {
        let length = function.last - function.first + 1;
        let why = format!("`{}` has {length} lines, {LONGEST_FUNCTION} at most", function.name);
        (length > LONGEST_FUNCTION).then(|| (source.lines[function.first].number, why))
    };
    source.functions().into_iter().filter_map(complain).collect()
}

pub fn allows_nothing(source: &Source) -> Vec<(usize, String)> {
    lines(source, |line| {
        let code = line.code.trim();
        let attribute = code.starts_with("#[") || code.starts_with("#![");
        let allows = attribute && has_word(code, "allow(");
        allows
            .then(|| "write `#[expect(…, reason = \"…\")]`, which ends when its cause does".into())
    })
}

fn lines(source: &Source, object: impl Fn(&Line) -> Option<String>) -> Vec<(usize, String)> {
    source.lines.iter().filter_map(|line| Some((line.number, object(line)?))).collect()
}

/// Returns what follows every `crate::` in a line, and every `strawmanus::`, as `main` says it.
fn our_paths(code: &str) -> impl Iterator<Item = &str> {
    let ours = ["crate::", "strawmanus::"].into_iter();
    ours.flat_map(|root| code.split(root).skip(1)).map(str::trim_start)
}

fn first_part(path: &str) -> String {
    path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Whether `word` stands in `code` at the beginning of a word, and ends one if it is one itself.
fn has_word(code: &str, word: &str) -> bool {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        let after = code[at + word.len()..].chars().next();
        let open = word.ends_with(in_word) && after.is_some_and(in_word);
        before.is_none_or(|c| !in_word(c)) && !open
    })
}
