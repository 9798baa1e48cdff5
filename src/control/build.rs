//! Which program speaks.
use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Two builds of one version differ in the stamp of their common file, so that a rebuilt program
/// replaces its older daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    pub version: String,
    /// The program's file.
    #[serde(default)]
    pub executable: Option<PathBuf>,
    /// When that file was last written, in nanoseconds; only compared, never read as a time.
    #[serde(default)]
    pub stamp: Option<u64>,
}

impl Build {
    /// Returns the build of this process. Call it early: its file may be replaced later.
    pub fn of_process() -> Self {
        let executable = std::env::current_exe().ok().filter(|path| path.to_str().is_some());
        let about = executable.as_ref().and_then(|path| fs::metadata(path).ok());
        let nanos =
            |seconds: i64, nanos: i64| seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
        let stamp = about.map(|about| nanos(about.mtime(), about.mtime_nsec()).unsigned_abs());
        Self { version: env!("CARGO_PKG_VERSION").to_owned(), executable, stamp }
    }

    /// Whether one may serve the other: same version, and the same file only if it is unchanged.
    pub fn serves(&self, other: &Self) -> bool {
        let rebuilt = self.executable == other.executable && self.stamp != other.stamp;
        self.version == other.version && !rebuilt
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rebuilt_file_is_another_build_and_a_copy_is_not() {
        let build = |version: &str, path: &str, stamp| Build {
            version: version.to_owned(),
            executable: Some(path.into()),
            stamp: Some(stamp),
        };
        let daemon = build("1.0.0", "/bin/s", 1);
        assert!(daemon.serves(&build("1.0.0", "/bin/s", 1)));
        assert!(!daemon.serves(&build("1.0.0", "/bin/s", 2)), "rebuilt");
        assert!(!daemon.serves(&build("1.0.1", "/bin/s", 1)), "another version");
        assert!(daemon.serves(&build("1.0.0", "/opt/s", 2)), "the same version elsewhere");
        assert!(Build::of_process().stamp.is_some());
    }
}
