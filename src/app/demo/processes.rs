//! The demo's axe: which processes belong to a browser, and their end.

use nix::sys::signal::{Signal, kill as signal};
use nix::unistd::Pid;

/// Ends a process at once.
pub fn kill(pid: u32) {
    if let Ok(pid) = i32::try_from(pid) {
        // One that is gone already is as dead as it can be.
        let _ = signal(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Returns the page processes of the browser `pid`.
pub fn renderers_of(pid: u32) -> Vec<u32> {
    let all = processes();
    let mut family = vec![pid];
    // Parents stand before their children only by chance: look until nobody joins.
    loop {
        let more = all
            .iter()
            .filter(|process| family.contains(&process.parent) && !family.contains(&process.pid));
        let more: Vec<_> = more.map(|process| process.pid).collect();
        if more.is_empty() {
            break;
        }
        family.extend(more);
    }
    let renderer = |process: &&Process| {
        family.contains(&process.pid)
            && process.command.contains("--type=renderer")
            && !process.command.contains("--extension-process")
    };
    all.iter().filter(renderer).map(|process| process.pid).collect()
}

struct Process {
    pid: u32,
    parent: u32,
    command: String,
}

#[cfg(target_os = "linux")]
fn processes() -> Vec<Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
        let command = std::fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        Some(Process { pid, parent: parent.trim().parse().ok()?, command })
    };
    entries.filter_map(read).collect()
}

#[cfg(not(target_os = "linux"))]
fn processes() -> Vec<Process> {
    let listed = std::process::Command::new("ps").args(["-axo", "pid=,ppid=,command="]).output();
    let Ok(listed) = listed else {
        return Vec::new();
    };
    let read = |line: &str| {
        let mut words = line.split_whitespace();
        let (pid, parent) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        Some(Process { pid, parent, command: words.collect::<Vec<_>>().join(" ") })
    };
    String::from_utf8_lossy(&listed.stdout).lines().filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_found_and_others_are_left_alone() {
        let all = processes();
        assert!(all.iter().any(|process| process.pid == std::process::id()));
        assert_eq!(renderers_of(std::process::id()), Vec::<u32>::new());
    }
}
