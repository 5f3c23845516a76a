//! Files that commands read from a terminal's user, or write for them.
//!
//! Entry functions: [`given`], [`export`]. **Never**: replaces a file.

use std::{
    fs::OpenOptions,
    io::{self, ErrorKind, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use futures::FutureExt;
use tokio::task::spawn_blocking;

use crate::{
    commands::{GivenFile, Refusal},
    files,
    import::FILE_MAX,
};

/// Highest number of an exported file.
const FILES_MAX: u32 = 10_000;

/// The file at `path`, which is read when it is wanted.
pub fn given(path: &str) -> GivenFile {
    let path = PathBuf::from(path);
    let name = path.display().to_string();
    GivenFile::new(name, None, move || {
        let path = path.clone();
        let read = spawn_blocking(move || read(&path));
        async move { read.await? }.boxed()
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Refusal> {
    files::read(path, FILE_MAX).map_err(|error| {
        let path = path.display();
        Refusal(format!("cannot read '{path}': {error} (give the path of a file)"))
    })
}

/// Writes `bytes` into a new file of `folder`, for its owner alone; the name is `name`, with a number if that is
/// taken.
///
/// # Errors
/// The folder takes no file.
pub fn export(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<String> {
    let (stem, end) = name.rsplit_once('.').unwrap_or((name, "txt"));
    let mut file = name.to_owned();
    for number in 2..=FILES_MAX {
        let mut new = OpenOptions::new();
        match new.write(true).create_new(true).mode(0o600).open(folder.join(&file)) {
            Ok(mut opened) => return opened.write_all(bytes).map(|()| file),
            // Keep the existing file, perhaps of an earlier evening; try the next number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        file = format!("{stem}-{number}.{end}");
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn export_is_private_and_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        files::replace(&path("said.txt"), b"mine").unwrap();
        symlink(path("elsewhere"), path("said-2.txt")).unwrap();
        assert_eq!(export(folder.path(), "said.txt", b"hello").unwrap(), "said-3.txt");
        assert_eq!(files::read(&path("said.txt"), 100).unwrap(), b"mine");
        assert!(!path("elsewhere").exists(), "a link is not followed");
        assert_eq!(files::read(&path("said-3.txt"), 100).unwrap(), b"hello");
        let mode = path("said-3.txt").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[tokio::test]
    async fn missing_file_is_named_with_a_way_out() {
        let Err(Refusal(why)) = given("no/such.yaml").content().await else { panic!("no file") };
        assert!(why.starts_with("cannot read 'no/such.yaml': "), "{why}");
        assert!(why.ends_with("(give the path of a file)"), "{why}");
    }
}
