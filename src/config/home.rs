//! The home folder: where everything of one user lives, and the one private socket.
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::config::environment::Environment;

/// The longest path of a unix socket that every system takes.
const LONGEST_SOCKET: usize = 100;

/// A home folder, by its absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    folder: PathBuf,
}

/// Why there is no usable home folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HomeError {
    #[error("no home folder is known; set STRAWMANUS_HOME")]
    Unknown,
    #[error("the home folder {folder} cannot be used: {why}; set STRAWMANUS_HOME to another one")]
    Unusable { folder: String, why: String },
    #[error(
        "the home folder {folder} is open to others (mode {mode:03o}); run `chmod 700` on it, or set STRAWMANUS_HOME to another one"
    )]
    Open { folder: String, mode: u32 },
}

impl Home {
    /// Finds the home folder of a caller, without touching it: `STRAWMANUS_HOME`, which may be
    /// relative to `folder`, or `~/.strawmanus`.
    pub fn find(environment: &Environment, folder: &Path) -> Result<Self, HomeError> {
        // A folder's `.env` must not decide where a user's profiles and keys are looked for.
        let named = environment.get("STRAWMANUS_HOME");
        let named = named.filter(|_| environment.file_of("STRAWMANUS_HOME").is_none());
        let path = match named {
            Some(named) => folder.join(named),
            None => etcetera::home_dir().map_err(|_| HomeError::Unknown)?.join(".strawmanus"),
        };
        Ok(Self::at(path))
    }

    /// Returns the home folder at `path`; where it exists already, by its real path, so that two
    /// ways to it lead to one daemon.
    pub fn at(path: PathBuf) -> Self {
        Self { folder: path.canonicalize().unwrap_or(path) }
    }

    /// Makes the folder, readable by its owner alone. One that is open to others is closed when it
    /// is empty or already ours; otherwise it may be somebody's `/tmp` and is refused.
    pub fn prepare(self) -> Result<Self, HomeError> {
        let unusable = |why: &dyn ToString| HomeError::Unusable {
            folder: self.folder.display().to_string(),
            why: why.to_string(),
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)
            .map_err(|e| unusable(&e))?;
        let about = fs::metadata(&self.folder).map_err(|e| unusable(&e))?;
        if about.uid() != nix::unistd::geteuid().as_raw() {
            return Err(unusable(&"it belongs to another user"));
        }
        if about.mode() & 0o077 != 0 {
            if !self.may_be_closed() {
                let folder = self.folder.display().to_string();
                return Err(HomeError::Open { folder, mode: about.mode() & 0o7777 });
            }
            self.close_to_others().map_err(|e| unusable(&e))?;
        }
        if let Some(private) = self.socket_folder() {
            make_private(&private).map_err(|e| unusable(&e))?;
        }
        Ok(Self::at(self.folder))
    }

    /// Whether the folder is ours to close: empty, or with our lock in it.
    pub fn may_be_closed(&self) -> bool {
        let empty = fs::read_dir(&self.folder).is_ok_and(|mut entries| entries.next().is_none());
        empty || self.lock_file().exists() || self.config_file().exists()
    }

    /// Takes every right of others away.
    pub fn close_to_others(&self) -> io::Result<()> {
        fs::set_permissions(&self.folder, Permissions::from_mode(0o700))
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns a configured folder: relative ones are below the home folder.
    pub fn below(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    pub fn config_file(&self) -> PathBuf {
        self.folder.join("config.toml")
    }

    /// Held by the daemon for as long as it lives.
    pub fn lock_file(&self) -> PathBuf {
        self.folder.join("daemon.lock")
    }

    /// Held by the client that starts or replaces the daemon.
    pub fn start_lock_file(&self) -> PathBuf {
        self.folder.join("start.lock")
    }

    pub fn log_file(&self) -> PathBuf {
        self.folder.join("daemon.log")
    }

    /// Returns the daemon's socket: in the home folder, or, where that path is too long for one, in
    /// a private folder of the user below `/tmp`.
    pub fn socket(&self) -> PathBuf {
        match self.socket_folder() {
            Some(private) => private.join(format!("{:016x}.sock", self.number())),
            None => self.folder.join("daemon.sock"),
        }
    }

    fn socket_folder(&self) -> Option<PathBuf> {
        let long = self.folder.join("daemon.sock").as_os_str().len() > LONGEST_SOCKET;
        // Not TMPDIR or XDG_RUNTIME_DIR: two shells of one user must come to the same folder.
        long.then(|| PathBuf::from(format!("/tmp/strawmanus-{}", nix::unistd::geteuid())))
    }

    /// FNV-1a of the path: the same in every build, unlike the standard library's hashes.
    fn number(&self) -> u64 {
        let bytes = self.folder.as_os_str().as_encoded_bytes();
        bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        })
    }
}

/// Makes a folder in a public place, and refuses one that somebody else laid there.
fn make_private(folder: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let about = fs::symlink_metadata(folder)?;
    let own = about.is_dir() && about.uid() == nix::unistd::geteuid().as_raw();
    if own && about.mode() & 0o077 == 0 {
        return Ok(());
    }
    let why = format!("{} is not a private folder of this user", folder.display());
    Err(io::Error::new(io::ErrorKind::PermissionDenied, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn a_new_home_is_private_and_a_long_one_has_a_short_socket() {
        let root = tempfile::tempdir().unwrap();
        let short = Home::at(root.path().join("ein Ordner für mich")).prepare().unwrap();
        assert_eq!(mode(short.folder()), 0o700);
        assert_eq!(short.socket(), short.folder().join("daemon.sock"));

        let long = Home::at(root.path().join("x".repeat(120))).prepare().unwrap();
        assert!(long.socket().as_os_str().len() < LONGEST_SOCKET);
        assert_eq!(mode(long.socket().parent().unwrap()), 0o700);
        let other = Home::at(root.path().join("y".repeat(120)));
        assert_ne!(long.socket(), other.socket(), "two homes, two daemons");
    }

    #[test]
    fn an_open_folder_is_closed_only_when_it_is_ours() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("home");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        Home::at(folder.clone()).prepare().unwrap();
        assert_eq!(mode(&folder), 0o700, "an empty one is closed");

        fs::write(folder.join("notes.txt"), "of somebody").unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).unwrap();
        let refused = Home::at(folder.clone()).prepare().unwrap_err();
        assert!(matches!(refused, HomeError::Open { mode: 0o755, .. }), "{refused}");
        assert_eq!(mode(&folder), 0o755, "and left as it is");
    }

    #[test]
    fn two_ways_to_a_home_lead_to_one_socket() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path().join("home")).prepare().unwrap();
        std::os::unix::fs::symlink(home.folder(), root.path().join("link")).unwrap();
        assert_eq!(Home::at(root.path().join("link")).socket(), home.socket());
    }
}
