//! Many tabs: what they cost, and what is left of them.
use crate::support::processes::resident;
use crate::support::struck::{Stage, tab_costs};

const TABS: usize = 50;
/// What a tab may cost the daemon, in bytes.
const MOST: u64 = 1 << 20;

#[test]
fn fifty_tabs_are_opened_and_observed_and_nothing_is_left_of_them() {
    let stage = Stage::new();
    let shell = &stage.shell;
    let first = stage.tab("mail", "/");
    // What the first page of each kind costs is no tab's.
    tab_costs(&stage, 3);
    let daemon = shell.daemon();
    let before = resident(daemon);
    let open = tab_costs(&stage, TABS);
    assert!(open / TABS as u64 <= MOST, "{} KiB a tab while they are open", open / 1024);
    let closed = resident(daemon).saturating_sub(before);
    assert!(closed / TABS as u64 <= MOST, "{} KiB a tab once closed", closed / 1024);

    let list = shell.run(&["tab", "list"]).good();
    assert_eq!(list.data("tabs").as_array().unwrap().len(), 1);
    assert_eq!(shell.devtools().pages().len(), 1);
    let actors = shell.actors();
    let names = actors.iter().filter_map(|actor| actor["name"].as_str());
    let left: Vec<_> = names.filter(|name| name.contains(" t")).collect();
    let own = ["tab group", "tab", "perception"].map(|kind| format!("{kind} t{first}"));
    assert_eq!(left, own);
}
