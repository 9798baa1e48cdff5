//! How the modules stand: who may name whom, who may touch the world, and how large a piece may grow.
//! Every complaint says the file, the line and the rule.
//!
//! To change the architecture, change [`FLOORS`], in a commit of its own that says why.
#[path = "floors/breaks.rs"]
mod breaks;
#[path = "floors/rules.rs"]
mod rules;
#[path = "floors/source.rs"]
mod source;

use std::fs;
use std::path::{Path, PathBuf};

use rules::Rule;
use source::Source;

/// A folder (or a file) of `src/`, and what of ours it may name besides itself. Lowest first: a row
/// names rows above it only, so nothing can go round in a circle.
const FLOORS: &[(&str, &[&str])] = &[
    ("domain", &[]),
    ("perception", &["domain"]),
    ("ports", &["domain"]),
    ("messages", &["domain", "ports"]),
    ("actors", &["domain", "perception", "ports", "messages"]),
    ("supervision", &["domain", "ports", "messages", "actors"]),
    // Adapters: never messages, never actors, never one another.
    ("cdp", &["domain", "ports"]),
    ("store", &["domain", "ports"]),
    ("model", &["domain", "ports"]),
    ("practice", &["domain"]),
    ("config", &["domain", "ports"]),
    ("control", &["domain", "ports", "config"]),
    // Puts the house together, so it alone names adapters.
    (
        "app",
        &[
            "domain",
            "perception",
            "ports",
            "messages",
            "actors",
            "supervision",
            "cdp",
            "store",
            "model",
            "practice",
            "config",
            "control",
        ],
    ),
    ("cli", &["domain", "ports", "config", "control"]),
    ("main", &["app", "cli"]),
];

/// The map of the house: it declares every floor, and belongs to none.
const MAP: &str = "lib";

/// A crate that only some floors name. What it stands for reaches the rest through a port.
const OWNERS: &[(&str, &str)] = &[
    ("chromiumoxide_cdp", "cdp"),
    ("chromiumoxide_types", "cdp"),
    ("tokio_tungstenite", "cdp"),
    ("command_fds", "cdp"),
    ("redb", "store"),
    ("age", "store"),
    ("reqwest", "cdp, model"),
    ("axum", "practice"),
    ("clap", "cli, control"),
    ("ratatui", "cli"),
];

/// Floors that decide, and touch nothing.
const PURE: &[&str] = &["domain", "perception"];

#[test]
fn imports_only_go_down() {
    refuse(&[rules::names_only_lower_floors, rules::names_no_group, rules::says_no_super]);
}

#[test]
fn actors_speak_by_messages_alone() {
    refuse(&[rules::names_no_other_actor, rules::takes_every_message]);
}

#[test]
fn only_supervision_spawns_actors() {
    refuse(&[rules::spawns_in_supervision]);
}

#[test]
fn the_world_is_touched_where_it_should_be() {
    refuse(&[rules::names_own_crates, rules::reads_environment_in_config, rules::stays_pure]);
}

#[test]
fn what_is_not_rust_has_its_own_file() {
    refuse(&[rules::writes_no_script]);
}

#[test]
fn pieces_stay_readable() {
    refuse(&[rules::keeps_files_short, rules::keeps_functions_short, rules::allows_nothing]);
}

#[test]
fn everything_has_a_floor() {
    let is_floor = |name: &str| name == MAP || FLOORS.iter().any(|(floor, _)| *floor == name);
    let homeless: Vec<_> =
        sources().into_iter().filter(|source| !is_floor(&source.floor)).map(|it| it.path).collect();
    assert!(homeless.is_empty(), "not in FLOORS, so that nothing checks them: {homeless:#?}");
}

#[test]
fn the_table_itself_goes_down() {
    for (row, (floor, names)) in FLOORS.iter().enumerate() {
        for name in *names {
            let above = FLOORS[..row].iter().any(|(other, _)| other == name);
            assert!(above, "`{floor}` may name `{name}`, which does not stand above it in FLOORS");
        }
    }
}

/// Fails with every line that one of `rules` objects to.
fn refuse(rules: &[Rule]) {
    let sources = sources();
    assert!(sources.len() > 50, "only {} files were found; where is src/?", sources.len());
    let complaints: Vec<_> = sources
        .iter()
        .flat_map(|source| rules.iter().flat_map(move |rule| source.complaints(*rule)))
        .collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        Source::read(&path.strip_prefix(root).unwrap().display().to_string(), &text)
    };
    let sources: Vec<_> = rust_files(&root.join("src")).into_iter().map(read).collect();
    let test_files: Vec<_> = sources.iter().flat_map(|source| source.test_files.clone()).collect();
    sources.into_iter().filter(|source| !test_files.contains(&source.path)).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
