//! What can be seen of processes from outside, and their end.
use std::path::PathBuf;

pub use strawmanus::app::demo::processes::{kill, renderers_of};

/// Lists the living processes that name `words` in their command or environment: a home folder is
/// named by its daemon's environment and by its browsers' profiles.
pub fn processes_with(words: &str) -> Vec<(u32, String)> {
    let named = all().filter_map(|(pid, folder)| {
        let command = command_of(&folder)?;
        let surroundings = std::fs::read(folder.join("environ")).unwrap_or_default();
        let surroundings = String::from_utf8_lossy(&surroundings).into_owned();
        let ours = !command.is_empty() && pid != std::process::id();
        let daemon = command.contains(" daemon") && surroundings.contains(words);
        (ours && (command.contains(words) || daemon)).then_some((pid, command))
    });
    named.collect()
}

/// Lists the browser's processes on profiles below a folder; those of throw-away profiles are
/// named by `folder` too, where they are made below it.
pub fn browsers_below(folder: &str) -> Vec<u32> {
    let browsers = all().filter(|(_, about)| {
        let command = command_of(about).unwrap_or_default();
        command.contains("--user-data-dir=") && command.contains(folder)
    });
    browsers.map(|(pid, _)| pid).collect()
}

/// Returns the dead children of a process that it did not reap.
pub fn zombies_of(parent: u32) -> Vec<u32> {
    let line = format!("PPid:\t{parent}");
    let dead = all().filter(|(_, folder)| {
        let status = std::fs::read_to_string(folder.join("status")).unwrap_or_default();
        status.contains("\nState:\tZ") && status.lines().any(|it| it == line)
    });
    dead.map(|(pid, _)| pid).collect()
}

/// Returns a process's resident memory in bytes.
pub fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() * 1024
}

fn all() -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

fn command_of(folder: &std::path::Path) -> Option<String> {
    let command = std::fs::read(folder.join("cmdline")).ok()?;
    Some(String::from_utf8_lossy(&command).replace('\0', " "))
}
