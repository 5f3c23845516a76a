//! The folder of an export.
//!
//! Entry functions: [`check_free`], [`write()`]. **Never**: writes into a folder that holds anything.

use std::{fs, io::ErrorKind, path::Path};

use anyhow::Context;

use super::super::Failure;
use crate::{campaign::MANIFEST, files};

/// A file of the export: its path inside, and its content.
pub type NewFile = (String, Vec<u8>);

/// Fails unless `folder` is missing or empty.
pub fn check_free(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    let mut entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            let way_out = "name a new folder";
            return Err(Failure::usage(format!("cannot export to '{name}': {error} ({way_out})")));
        }
        Ok(entries) => entries,
    };
    if entries.next().is_none() {
        return Ok(());
    }
    Err(Failure::usage(match folder.join(MANIFEST).exists() {
        true => format!("'{name}' holds an export already (remove it first, or name a new folder)"),
        false => format!("'{name}' is not empty (name a new folder)"),
    }))
}

/// Writes `content` in order, for the owner alone.
pub fn write(folder: &Path, content: &[NewFile]) -> anyhow::Result<()> {
    files::private_folder(folder)
        .with_context(|| format!("cannot make the folder '{}'", folder.display()))?;
    for (name, bytes) in content {
        let path = folder.join(name);
        files::replace_private(&path, bytes).with_context(|| {
            let whole = "the export is incomplete: remove the folder and export again";
            format!("cannot write '{}' ({whole})", path.display())
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn refused(folder: &Path) -> String {
        match check_free(folder) {
            Err(Failure::Usage(text)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn folder_with_content_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new");
        check_free(folder.path()).unwrap();
        check_free(&new).unwrap();
        write(&new, &[("a/b.md".to_owned(), b"x".to_vec()), (MANIFEST.to_owned(), vec![])])
            .unwrap();
        let mode = |name: &str| fs::metadata(new.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("a"), mode("a/b.md")), (0o700, 0o700, 0o600));
        assert!(refused(&new).contains("holds an export already"));
        assert!(refused(folder.path()).contains("is not empty"));
        assert!(refused(&new.join(MANIFEST)).contains("cannot export to"));
    }
}
