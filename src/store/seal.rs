//! Small secrets at rest, encrypted with age to a key of this machine's own in a 0600 file.
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use async_trait::async_trait;

use crate::ports::sealed::{Sealed, SealedError};
use crate::store::files::replace;

/// A folder of sealed files, and the key beside them.
#[derive(Debug, Clone)]
pub struct SealedFolder {
    folder: PathBuf,
    /// Writes go one after another, so that the last one asked for is the one that stays.
    order: Arc<Mutex<()>>,
}

impl SealedFolder {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder, order: Arc::default() }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.age"))
    }

    /// Reads the key; makes one the first time.
    fn key(&self) -> Result<Identity, SealedError> {
        let path = self.folder.join("key.txt");
        match std::fs::read_to_string(&path) {
            Ok(text) => {
                let mode = std::fs::metadata(&path).map_err(|error| file(&path, &error))?;
                if mode.permissions().mode() & 0o077 != 0 {
                    let why = "others may read it".to_owned();
                    return Err(SealedError::File { path: path.display().to_string(), why });
                }
                Identity::from_str(text.trim())
                    .map_err(|_| SealedError::Unreadable { path: path.display().to_string() })
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let key = Identity::generate();
                let text = key.to_string();
                replace(&path, text.expose_secret().as_bytes())
                    .map_err(|error| file(&path, &error))?;
                Ok(key)
            }
            Err(error) => Err(file(&path, &error)),
        }
    }

    fn read_now(&self, name: &str) -> Result<Option<Vec<u8>>, SealedError> {
        let path = self.file(name);
        let sealed = match std::fs::read(&path) {
            Ok(sealed) => sealed,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(file(&path, &error)),
        };
        let opened = age::decrypt(&self.key()?, &sealed);
        opened.map(Some).map_err(|_| SealedError::Unreadable { path: path.display().to_string() })
    }

    fn write_now(&self, name: &str, secret: &[u8]) -> Result<(), SealedError> {
        let _in_order = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let path = self.file(name);
        let sealed = age::encrypt(&self.key()?.to_public(), secret).map_err(|error| {
            SealedError::File { path: path.display().to_string(), why: error.to_string() }
        })?;
        replace(&path, &sealed).map_err(|error| file(&path, &error))
    }
}

#[async_trait]
impl Sealed for SealedFolder {
    async fn read(&self, name: &str) -> Result<Option<Vec<u8>>, SealedError> {
        let (folder, name) = (self.clone(), name.to_owned());
        blocking(move || folder.read_now(&name)).await
    }

    async fn write(&self, name: &str, secret: &[u8]) -> Result<(), SealedError> {
        let (folder, name, secret) = (self.clone(), name.to_owned(), secret.to_vec());
        blocking(move || folder.write_now(&name, &secret)).await
    }

    async fn remove(&self, name: &str) -> Result<(), SealedError> {
        let path = self.file(name);
        blocking(move || match std::fs::remove_file(&path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(file(&path, &error)),
            Ok(()) | Err(_) => Ok(()),
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SealedError> + Send + 'static,
) -> Result<T, SealedError> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| {
        Err(SealedError::File { path: "the sealed folder".into(), why: error.to_string() })
    })
}

fn file(path: &Path, error: &std::io::Error) -> SealedError {
    SealedError::File { path: path.display().to_string(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_written_comes_back_and_is_not_readable_on_disk() {
        let root = tempfile::tempdir().unwrap();
        let sealed = SealedFolder::new(root.path().join("sealed"));
        assert_eq!(sealed.read("a").await.unwrap(), None);
        sealed.write("a", b"session=abc").await.unwrap();
        assert_eq!(sealed.read("a").await.unwrap().unwrap(), b"session=abc");

        let again = SealedFolder::new(root.path().join("sealed"));
        assert_eq!(again.read("a").await.unwrap().unwrap(), b"session=abc", "another process");
        let raw = std::fs::read(root.path().join("sealed/a.age")).unwrap();
        assert!(!raw.windows(7).any(|part| part == b"session"));
        for name in ["a.age", "key.txt"] {
            let about = std::fs::metadata(root.path().join("sealed").join(name)).unwrap();
            assert_eq!(about.permissions().mode() & 0o777, 0o600, "{name}");
        }
        sealed.remove("a").await.unwrap();
        assert_eq!(sealed.read("a").await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_damaged_file_a_foreign_key_and_an_open_key_are_said() {
        let root = tempfile::tempdir().unwrap();
        let sealed = SealedFolder::new(root.path().to_owned());
        sealed.write("a", b"x").await.unwrap();
        let key = root.path().join("key.txt");
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(sealed.read("a").await, Err(SealedError::File { .. })));
        std::fs::remove_file(&key).unwrap();
        assert!(matches!(sealed.read("a").await, Err(SealedError::Unreadable { .. })));
        std::fs::write(root.path().join("a.age"), b"rubbish").unwrap();
        assert!(matches!(sealed.read("a").await, Err(SealedError::Unreadable { .. })));
    }
}
