//! Finds a program's installation: its interpreter, and the packages of both.
//!
//! Entry functions: [`Installed::places`], [`project`]. **Never**: opens a wide folder, such as a
//! home.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
};

const KEEPERS: &[&str] =
    &[".pyenv", ".nvm", ".volta", ".asdf", ".rbenv", ".bun", ".deno", ".fnm", "mise", ".sdkman"];
const MARKS: &[&str] = &["package.json", "pyproject.toml", "Cargo.toml", "go.mod", "node_modules"];
/// Interpreters that wrappers call.
const INTERPRETERS: &[&str] = &["node", "python3", "uv"];
const DEPTH: usize = 4;
const HEAD: usize = 256;

/// Folders searched for programs, and a test for folders too wide to open.
pub struct Installed<'a> {
    pub path: &'a str,
    /// True if a folder contains files of several programs.
    pub is_wide: &'a dyn Fn(&Path) -> bool,
}

impl Installed<'_> {
    /// Paths that `program` needs to run, beside the system's folders.
    pub fn places(&self, program: &Path) -> BTreeSet<PathBuf> {
        let mut places = BTreeSet::new();
        self.follow(program, DEPTH, &mut places);
        for name in INTERPRETERS {
            if let Some(interpreter) = self.look_up(name) {
                self.follow(&interpreter, DEPTH, &mut places);
            }
        }
        let folders = self.path.split(':').filter(|it| it.starts_with('/')).map(PathBuf::from);
        places.extend(folders.filter(|folder| !(self.is_wide)(folder)));
        places
    }

    fn look_up(&self, name: &str) -> Option<PathBuf> {
        let folders = self.path.split(':').filter(|folder| !folder.is_empty());
        folders.map(|folder| Path::new(folder).join(name)).find(|program| program.is_file())
    }

    /// Adds the folders of `program`, as called and without links, and those of its interpreter if
    /// it is a script.
    fn follow(&self, program: &Path, depth: usize, places: &mut BTreeSet<PathBuf>) {
        let real = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        for path in [program, &real] {
            places.insert(path.to_owned());
            places.extend(self.home_of(path));
        }
        let Some(above) = depth.checked_sub(1) else { return };
        if let Some(interpreter) = interpreter(&real).and_then(|words| self.named(&words)) {
            self.follow(&interpreter, above, places);
        }
    }

    fn named(&self, words: &str) -> Option<PathBuf> {
        let mut words = words.split_whitespace();
        let first = Path::new(words.next()?);
        if first.file_name() != Some(OsStr::new("env")) {
            return Some(first.to_owned());
        }
        words
            .find(|word| !word.starts_with('-') && !word.contains('='))
            .and_then(|it| self.look_up(it))
    }

    fn home_of(&self, path: &Path) -> Vec<PathBuf> {
        let is_keeper = |it: &&Path| {
            it.file_name().and_then(OsStr::to_str).is_some_and(|name| KEEPERS.contains(&name))
        };
        if let Some(keeper) = path.ancestors().skip(1).find(is_keeper) {
            return vec![keeper.to_owned()];
        }
        let is_modules = |it: &&Path| it.file_name() == Some(OsStr::new("node_modules"));
        if let Some(modules) = path.ancestors().filter(is_modules).last() {
            return vec![modules.to_owned()];
        }
        let Some(folder) = path.parent() else { return Vec::new() };
        let named = folder.file_name().and_then(OsStr::to_str);
        let root = folder.parent().filter(|_| matches!(named, Some("bin" | "sbin" | "Scripts")));
        match root {
            Some(root) if self.is_mixed(root) => {
                let of_programs = ["lib", "lib64", "libexec"].map(|name| root.join(name));
                [vec![folder.to_owned()], of_programs.to_vec()].concat()
            }
            Some(root) => vec![root.to_owned()],
            None => project(path, self.is_wide).into_iter().collect(),
        }
    }

    /// True if `root` contains more than programs: a home, or `~/.local` and its like.
    fn is_mixed(&self, root: &Path) -> bool {
        let hidden = root.file_name().is_some_and(|it| it.as_encoded_bytes().starts_with(b"."));
        (self.is_wide)(root) || hidden && root.parent().is_some_and(|above| (self.is_wide)(above))
    }
}

/// The project folder of the file at `path`: the nearest one above with a project's mark, else its
/// own folder; `None` if that is wide.
pub fn project(path: &Path, is_wide: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
    let mut above = path.ancestors().skip(1).take_while(|folder| !is_wide(folder));
    let nearest = above.next()?;
    let is_marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    Some([nearest].into_iter().chain(above).find(is_marked).unwrap_or(nearest).to_owned())
}

fn interpreter(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    let bytes = u64::try_from(HEAD).unwrap_or(u64::MAX);
    fs::File::open(path).ok()?.take(bytes).read_to_end(&mut head).ok()?;
    let line = head.split(|byte| *byte == b'\n').next()?.strip_prefix(b"#!")?;
    Some(String::from_utf8_lossy(line).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder");
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        (folder, root)
    }

    #[test]
    fn script_opens_its_interpreter_and_packages() {
        let (_folder, root) = place(&[
            ("home/.nvm/versions/node/v22/bin/node", "\x7fELF"),
            ("app/node_modules/server/dist/index.js", "#!/usr/bin/env node\n"),
            ("home/.ssh/id", "x"),
        ]);
        let home = root.join("home");
        let wide = |folder: &Path| home.starts_with(folder);
        let path = home.join(".nvm/versions/node/v22/bin").display().to_string();
        let installed = Installed { path: &path, is_wide: &wide };
        let places = installed.places(&root.join("app/node_modules/server/dist/index.js"));
        assert!(places.contains(&home.join(".nvm")), "{places:#?}");
        assert!(places.contains(&root.join("app/node_modules")), "{places:#?}");
        assert!(!places.iter().any(|it| home.join(".ssh/id").starts_with(it)), "{places:#?}");
    }

    #[test]
    fn home_programs_open_only_their_libraries() {
        let (_folder, root) = place(&[
            ("home/.local/bin/server", "\x7fELF"),
            ("home/.local/share/keyrings/x", "x"),
            ("venv/bin/server", "\x7fELF"),
        ]);
        let home = root.join("home");
        let wide = |folder: &Path| home.starts_with(folder);
        let installed = Installed { path: "", is_wide: &wide };
        let places = installed.places(&home.join(".local/bin/server"));
        assert!(
            places.contains(&home.join(".local/bin")) && places.contains(&home.join(".local/lib"))
        );
        assert!(!places.contains(&home.join(".local")), "{places:#?}");
        assert!(installed.places(&root.join("venv/bin/server")).contains(&root.join("venv")));
    }
}
