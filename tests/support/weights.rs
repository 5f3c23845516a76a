//! The model files that tests of hearing need.
//!
//! Entry function: [`weights`].

use std::path::{Path, PathBuf};

/// The folder of model files, `whisper-tiny.en` among them; `None`, which is said: nobody could
/// download them.
pub fn weights() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/third-party/models");
    if folder.join("whisper-tiny.en/manifest.json").is_file() {
        return Some(folder);
    }
    eprintln!(
        "SKIPPED: the model files of hearing are not in '{}' (./dev test gets them; or: cargo run -- \
         models get whisper-tiny.en --dir target/third-party/models)",
        folder.display()
    );
    None
}
