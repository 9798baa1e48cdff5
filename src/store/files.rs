//! Reports on disk: written beside their place and then moved there, so that nobody reads half of one.
use std::io::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;

use crate::ports::files::{FileError, Files};

/// The real disk.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

#[async_trait]
impl Files for Disk {
    async fn write(&self, path: &Path, text: &str) -> Result<(), FileError> {
        let (to, bytes) = (path.to_owned(), text.as_bytes().to_vec());
        let written = tokio::task::spawn_blocking(move || replace(&to, &bytes)).await;
        let why = match written {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error.to_string(),
            Err(error) => error.to_string(),
        };
        Err(FileError { path: path.to_owned(), why })
    }
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
