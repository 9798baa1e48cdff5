//! The rules, each broken on purpose: what must be caught, and what must be let alone.
use crate::rules::{self, Rule};
use crate::source::Source;

/// A rule, the file that it is shown, what stands in it, and how many lines it must object to.
type Case = (Rule, &'static str, &'static str, usize);

const CASES: &[Case] = &[
    (rules::names_only_lower_floors, "src/domain/a.rs", "use crate::ports::clock::Clock;", 1),
    (rules::names_only_lower_floors, "src/domain/a.rs", "use crate::domain::ids::TabId;", 0),
    (rules::names_only_lower_floors, "src/ports/a.rs", "use crate::domain::ids::TabId;", 0),
    (rules::names_only_lower_floors, "src/ports/a.rs", "fn a(b: crate::actors::tab::Tab) {}", 1),
    (rules::names_only_lower_floors, "src/store/a.rs", "use crate::cdp::find::locate;", 1),
    (rules::names_only_lower_floors, "src/cdp/mod.rs", "use crate::messages::tab::TabMsg;", 1),
    (rules::names_only_lower_floors, "src/app/mod.rs", "use crate::cli::main;", 1),
    (rules::names_only_lower_floors, "src/main.rs", "strawmanus::actors::tab::run()", 1),
    (rules::names_only_lower_floors, "src/main.rs", "strawmanus::cli::main(House)", 0),
    (rules::names_only_lower_floors, "src/nowhere/a.rs", "use crate::domain::ids::TabId;", 1),
    (rules::names_only_lower_floors, "src/domain/a.rs", "// see crate::actors", 0),
    (rules::names_only_lower_floors, "src/domain/a.rs", "/* a /* b */ crate::actors */", 0),
    (rules::names_only_lower_floors, "src/domain/a.rs", "let a = \"crate::actors\";", 0),
    (rules::names_only_lower_floors, "src/domain/a.rs", "r#\"\"\"#; crate::actors::a()", 1),
    (rules::names_only_lower_floors, "src/domain/a.rs", "\"\\\"\"; crate::actors::a()", 1),
    (rules::names_only_lower_floors, "src/domain/a.rs", "('\"', crate::actors::a)", 1),
    (rules::names_only_lower_floors, "src/domain/a.rs", "fn a<'a>(b: &'a crate::actors::B) {}", 1),
    (rules::names_no_group, "src/app/a.rs", "use crate::{domain::ids, ports::page};", 1),
    (rules::names_no_group, "src/app/a.rs", "use crate::domain::{ids, page};", 0),
    (rules::names_no_group, "src/app/a.rs", "use crate::*;", 1),
    (rules::says_no_super, "src/app/a.rs", "use super::told::usage;", 1),
    (rules::says_no_super, "src/app/a.rs", "pub(super) fn a() {}", 0),
    (rules::names_no_other_actor, "src/actors/tab.rs", "use crate::actors::session::Session;", 1),
    (rules::names_no_other_actor, "src/actors/tab/work.rs", "use crate::actors::tab::Tab;", 0),
    (rules::names_no_other_actor, "src/actors/tab.rs", "use crate::actors::world::World;", 0),
    (rules::names_no_other_actor, "src/app/a.rs", "use crate::actors::session::Session;", 0),
    (
        rules::takes_every_message,
        "src/actors/a.rs",
        "fn handle() {\n  match a {\n    _ => {}\n  }\n}",
        1,
    ),
    (
        rules::takes_every_message,
        "src/actors/a.rs",
        "fn word() {\n  match a {\n    _ => {}\n  }\n}",
        0,
    ),
    (rules::spawns_in_supervision, "src/actors/a.rs", "Tab::spawn(None, Tab, args).await", 1),
    (rules::spawns_in_supervision, "src/actors/a.rs", "myself.spawn_linked(None, Tab, args)", 1),
    (rules::spawns_in_supervision, "src/actors/a.rs", "tokio::spawn(Tab::spawn(None, Tab))", 1),
    (rules::spawns_in_supervision, "src/actors/a.rs", "tokio::spawn(async move {})", 0),
    (rules::spawns_in_supervision, "src/store/a.rs", "std::thread::spawn(|| {})", 0),
    (rules::spawns_in_supervision, "src/cdp/a.rs", "Command::new(a).spawn()?", 0),
    (rules::spawns_in_supervision, "src/supervision/a.rs", "Actor::spawn(None, Tab, args)", 0),
    (rules::names_own_crates, "src/app/a.rs", "use chromiumoxide_cdp::cdp::a;", 1),
    (rules::names_own_crates, "src/cdp/a.rs", "use chromiumoxide_cdp::cdp::a;", 0),
    (rules::names_own_crates, "src/cli/a.rs", "use clap::Parser;", 0),
    (rules::names_own_crates, "src/app/a.rs", "let page = storage::page::new();", 0),
    (rules::reads_environment_in_config, "src/cli/a.rs", "std::env::var(\"HOME\")", 1),
    (rules::reads_environment_in_config, "src/cli/a.rs", "std::env::vars_os()", 1),
    (rules::reads_environment_in_config, "src/cli/a.rs", "std::env::args_os()", 0),
    (rules::reads_environment_in_config, "src/config/a.rs", "std::env::vars_os()", 0),
    (rules::stays_pure, "src/domain/a.rs", "use std::time::Instant;", 1),
    (rules::stays_pure, "src/perception/a.rs", "tokio::fs::read(a).await", 1),
    (rules::stays_pure, "src/domain/a.rs", "use std::time::Duration;", 0),
    (rules::stays_pure, "src/app/a.rs", "tokio::fs::read(a).await", 0),
    (rules::writes_no_script, "src/cdp/a.rs", "run(\"document.querySelector('a')\")", 1),
    (rules::writes_no_script, "src/cdp/a.rs", "r\"\n(function () {})()\n\"", 1),
    (rules::writes_no_script, "src/cdp/a.rs", "format!(\"{WORLD}.{function}({argument})\")", 0),
    (rules::writes_no_script, "src/practice/a.rs", "\"<script>window.a = 1</script>\"", 0),
    (rules::allows_nothing, "src/app/a.rs", "#[allow(dead_code)]", 1),
    (rules::allows_nothing, "src/app/a.rs", "#![cfg_attr(not(test), allow(unused))]", 1),
    (rules::allows_nothing, "src/app/a.rs", "#[expect(dead_code, reason = \"a\")]", 0),
    (rules::allows_nothing, "src/app/a.rs", "self.allow(host)", 0),
];

#[test]
fn every_break_is_caught_and_nothing_else() {
    for (rule, path, text, expected) in CASES {
        let found = Source::read(path, text).complaints(*rule);
        assert_eq!(found.len(), *expected, "{path} holds `{text}`: {found:?}");
    }
}

#[test]
fn tests_are_left_alone_and_what_follows_them_is_not() {
    let text = "#[cfg(test)]\nmod tests {\n    use super::*;\n}\n\nuse super::a;\n";
    let found = Source::read("src/app/a.rs", text).complaints(rules::says_no_super);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("src/app/a.rs:6: "), "{found:?}");

    let text =
        "#[cfg(test)]\npub fn only_for_tests() {\n    super::a()\n}\nfn a() { super::b() }\n";
    let found = Source::read("src/app/a.rs", text).complaints(rules::says_no_super);
    assert!(found.len() == 1 && found[0].contains(":5: "), "{found:?}");
}

#[test]
fn files_of_tests_are_known_by_who_declares_them() {
    let files = |path: &str, text: &str| Source::read(path, text).test_files;
    let plain = "#[cfg(test)]\nmod tests;\n";
    assert_eq!(files("src/domain/guard/mod.rs", plain), ["src/domain/guard/tests.rs"]);
    assert_eq!(files("src/actors/tab.rs", plain), ["src/actors/tab/tests.rs"]);
    let named = "#[cfg(test)]\n#[path = \"connection_tests.rs\"]\nmod tests;\n";
    assert_eq!(files("src/cdp/connection.rs", named), ["src/cdp/connection_tests.rs"]);
    assert!(files("src/cdp/connection.rs", "mod tests;\n").is_empty());
}

#[test]
fn lengths_are_counted_to_the_line() {
    let function = |lines: usize| format!("fn a() {{\n{}}}\n", "    b();\n".repeat(lines - 2));
    let long = |lines| {
        !Source::read("src/a/b.rs", &function(lines))
            .complaints(rules::keeps_functions_short)
            .is_empty()
    };
    assert_eq!([long(60), long(61)], [false, true]);
    let file = |lines: usize| "use a;\n".repeat(lines - 1) + "use b;";
    let long = |lines| {
        !Source::read("src/a/b.rs", &file(lines)).complaints(rules::keeps_files_short).is_empty()
    };
    assert_eq!([long(600), long(601)], [false, true]);
}

#[test]
fn functions_are_found_by_their_braces() {
    let text = "\
trait A {
    fn declared(&self, of: [u8; 4]);
    fn given(&self) -> char {
        let open = '{';
        let text = \"}}}\";
        let inner = |it: fn(u8)| match it {
            _ => '}',
        };
        fn nested() {}
        open
    }
}
";
    let found = Source::read("src/a/b.rs", text).functions();
    let spans: Vec<_> =
        found.iter().map(|it| (it.name.as_str(), it.first + 1, it.last + 1)).collect();
    assert_eq!(spans, [("given", 3, 11), ("nested", 9, 9)]);
}
