//! Fonts: a page in Chinese, or with emoji, is full of boxes without them.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cli::doctor::browser::can_install;
use crate::cli::doctor::{Cure, Finding, State};

const PACKAGES: &[&str] = &["fonts-noto-cjk", "fonts-noto-color-emoji"];

/// What is needed, how fontconfig calls it, and how its files are named.
const NEEDED: &[(&str, &str, &[&str])] = &[
    (
        "CJK",
        ":lang=zh",
        &["cjk", "wqy", "droidsansfallback", "sourcehan", "unifont", "arphic", "uming"],
    ),
    ("emoji", ":lang=und-zsye", &["emoji", "symbola", "unifont"]),
];

pub fn look() -> Finding {
    if cfg!(target_os = "macos") {
        return Finding::ok("fonts", "the system's");
    }
    let files = font_files();
    let missing: Vec<_> =
        NEEDED.iter().filter(|(_, query, names)| !listed(query) && !named(&files, names)).collect();
    if missing.is_empty() {
        return Finding::ok("fonts", "CJK, emoji");
    }
    let missing: Vec<_> = missing.iter().map(|(name, ..)| *name).collect();
    let finding = Finding::new("fonts", State::Warning, format!("none for {}", missing.join(", ")))
        .remedy(format!("install {} (or others for these scripts)", PACKAGES.join(" ")));
    if can_install() { finding.cure(Cure::Install(PACKAGES)) } else { finding }
}

/// Whether fontconfig knows a font for `query`.
fn listed(query: &str) -> bool {
    let list =
        Command::new("fc-list").arg(query).stdin(Stdio::null()).stderr(Stdio::null()).output();
    list.is_ok_and(|list| list.status.success() && !list.stdout.is_empty())
}

fn named(files: &[String], names: &[&str]) -> bool {
    files.iter().any(|file| names.iter().any(|name| file.contains(name)))
}

/// Returns the names of font files, in lower case and without dashes, for systems without fontconfig.
fn font_files() -> Vec<String> {
    let mut folders =
        vec![PathBuf::from("/usr/share/fonts"), PathBuf::from("/usr/local/share/fonts")];
    if let Ok(home) = etcetera::home_dir() {
        folders.push(home.join(".fonts"));
        folders.push(home.join(".local/share/fonts"));
    }
    let mut names = Vec::new();
    folders.iter().for_each(|folder| collect(folder, 0, &mut names));
    names
}

fn collect(folder: &Path, depth: usize, names: &mut Vec<String>) {
    // Links may lead in circles; no system nests its fonts deeper.
    if depth > 6 {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, depth + 1, names);
        } else {
            names.push(entry.file_name().to_string_lossy().to_lowercase().replace(['-', '_'], ""));
        }
    }
}
