//! Reports on disk: written beside their place and then moved there, so that nobody reads half of one.
use std::io::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::ports::files::{FileError, Files, Listed};

/// The real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

#[async_trait]
impl Files for Disk {
    async fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let (to, bytes) = (path.to_owned(), bytes.to_vec());
        on_disk("write", path, move || replace(&to, &bytes)).await
    }

    async fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let from = path.to_owned();
        on_disk("read", path, move || std::fs::read(from)).await
    }

    async fn list(&self, folder: &Path) -> Result<Vec<Listed>, FileError> {
        let from = folder.to_owned();
        on_disk("list", folder, move || {
            let mut listed = Vec::new();
            walk(&from, "", &mut listed)?;
            listed.sort_by(|one: &Listed, other| one.path.cmp(&other.path));
            Ok(listed)
        })
        .await
    }
}

async fn on_disk<T: Send + 'static>(
    what: &'static str,
    path: &Path,
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T, FileError> {
    let why = match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(error)) => error.to_string(),
        Err(error) => error.to_string(),
    };
    Err(FileError { what, path: path.to_owned(), why })
}

/// Plain files and folders alone: a link may lead anywhere.
fn walk(folder: &Path, below: &str, listed: &mut Vec<Listed>) -> std::io::Result<()> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let (kind, name) = (entry.file_type()?, entry.file_name());
        let path = format!("{below}{}", name.to_string_lossy());
        if kind.is_dir() {
            walk(&entry.path(), &format!("{path}/"), listed)?;
        } else if kind.is_file() {
            listed.push(Listed { path, bytes: entry.metadata()?.len() });
        }
    }
    Ok(())
}

/// Puts `bytes` at `path`, whole or not at all; makes the folder. The file is its owner's alone.
///
/// # Errors
/// What the disk says.
pub fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    std::fs::create_dir_all(&folder)?;
    // A temporary file is made with mode 0600.
    let mut file = tempfile::NamedTempFile::new_in(&folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
