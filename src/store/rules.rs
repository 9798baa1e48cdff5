//! The policy file on disk, read anew whenever it is asked for: it is small, and a stale rule would be
//! worse than a read.
use std::io::ErrorKind;
use std::path::PathBuf;

use async_trait::async_trait;

use crate::ports::rules::RuleFile;

/// `policy.toml` of a home folder.
#[derive(Debug, Clone)]
pub struct PolicyFile(pub PathBuf);

#[async_trait]
impl RuleFile for PolicyFile {
    async fn read(&self) -> Result<Option<String>, String> {
        match tokio::fs::read_to_string(&self.0).await {
            Ok(text) => Ok(Some(text)),
            // A link to nothing is a file that somebody meant.
            Err(error)
                if error.kind() == ErrorKind::NotFound
                    && tokio::fs::symlink_metadata(&self.0).await.is_err() =>
            {
                Ok(None)
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn no_file_is_no_error_and_a_folder_or_garbage_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = PolicyFile(folder.path().join("policy.toml"));
        assert_eq!(file.read().await, Ok(None));
        std::os::unix::fs::symlink("/nowhere/policy.toml", &file.0).unwrap();
        assert!(file.read().await.is_err());
        std::fs::remove_file(&file.0).unwrap();
        std::fs::write(&file.0, "deny = []").unwrap();
        assert_eq!(file.read().await, Ok(Some("deny = []".into())));
        std::fs::write(&file.0, [0xff, 0xfe]).unwrap();
        assert!(file.read().await.is_err());
        assert!(PolicyFile(folder.path().to_owned()).read().await.is_err());
    }
}
