//! Where a Chromium or Chrome is.
use std::path::{Path, PathBuf};

use crate::ports::browser::BrowserError;

/// Program names, the best first.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
    "google-chrome-unstable",
    "chrome",
];

/// Folders that hold them, whatever the search path says.
const FOLDERS: &[&str] = &[
    "/usr/bin",
    "/usr/local/bin",
    "/opt/google/chrome",
    "/usr/lib/chromium",
    "/usr/lib/chromium-browser",
    "/snap/bin",
    "/var/lib/flatpak/exports/bin",
    "/opt/homebrew/bin",
];

/// Programs that are not found by their name.
const PROGRAMS: &[&str] = &[
    "/var/lib/flatpak/exports/bin/org.chromium.Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "/Applications/Google Chrome Beta.app/Contents/MacOS/Google Chrome Beta",
];

/// Lists where a browser is looked for, in order. `search` is the user's search path.
pub fn candidates(search: &[PathBuf]) -> Vec<PathBuf> {
    let folders = || search.iter().cloned().chain(FOLDERS.iter().map(PathBuf::from));
    let named = folders().flat_map(|folder| NAMES.iter().map(move |name| folder.join(name)));
    let mut all: Vec<PathBuf> = named.chain(PROGRAMS.iter().map(PathBuf::from)).collect();
    let mut seen = std::collections::HashSet::new();
    all.retain(|path| seen.insert(path.clone()));
    all
}

/// Returns the browser's program: `explicit` when given, else the first that is there.
///
/// # Errors
/// [`BrowserError::NotFound`] says where it looked.
pub fn locate(explicit: Option<&Path>, search: &[PathBuf]) -> Result<PathBuf, BrowserError> {
    if let Some(path) = explicit {
        let looked = format!("{} is no program", path.display());
        return runs(path).then(|| path.to_owned()).ok_or(BrowserError::NotFound { looked });
    }
    candidates(search).into_iter().find(|path| runs(path)).ok_or_else(|| {
        let looked = format!(
            "looked for {} on the search path and in {}",
            NAMES.join(", "),
            FOLDERS.join(", ")
        );
        BrowserError::NotFound { looked }
    })
}

fn runs(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_search_path_comes_first_and_only_programs_count() {
        let folder = tempfile::tempdir().unwrap();
        let search = [folder.path().to_owned()];
        let program = folder.path().join("chromium");
        std::fs::write(&program, "").unwrap();
        assert_ne!(locate(None, &search).ok(), Some(program.clone()));
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate(None, &search), Ok(program.clone()));
        assert_eq!(locate(Some(&program), &[]), Ok(program));
    }

    #[test]
    fn an_explicit_program_that_is_missing_is_not_replaced() {
        let missing = locate(Some(Path::new("/nowhere/chromium")), &[]).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "no Chromium or Chrome found (/nowhere/chromium is no program); install one, or set \
             `browser.executable`"
        );
    }
}
