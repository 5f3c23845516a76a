//! Files and folders that a confined program may reach.
//!
//! Entry functions: [`found`], [`rules`]. They are the system's folders, the program's
//! installation, the folders on its command line, its working folder, and the configured ones.
//! Landlock can only permit, so a folder that contains something hidden is opened entry by entry.
//! **Never**: opens a home, or a folder above one, because something in it was named.

use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::{
    install,
    plan::{Confinement, Refusal},
};

/// Paths that every program needs to run and to reach the network.
const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/snap",
    "/var/lib/ca-certificates",
    "/var/cache/fontconfig",
    // Folders, because resolvers replace the files in them.
    "/run/systemd/resolve",
    "/run/NetworkManager/resolv.conf",
    "/run/resolvconf",
    // Programs choose their size by these.
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/sys/kernel/mm",
];
/// Entries of `/etc` opened to programs of root, which could read the secrets among the others.
const ETC: &[&str] = &[
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/crypto-policies",
    "/etc/debian_version",
    "/etc/default/locale",
    "/etc/fonts",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hostname",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/machine-id",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/networks",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/cert.pem",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
    "/etc/protocols",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
];
/// Folders that are never opened as a whole because something in them was named.
const WIDE: &[&str] =
    &["/etc", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var"];

/// Folders of a home shared by many programs: a named file in one is opened without the others.
const SHARED: &[&str] = &[
    ".aws",
    ".cache",
    ".config",
    ".docker",
    ".gnupg",
    ".kube",
    ".local",
    ".local/share",
    ".local/state",
    ".ssh",
    "Desktop",
    "Documents",
    "Downloads",
];

/// Paths that a program may reach; everything else is closed to it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Rules {
    pub read: BTreeSet<PathBuf>,
    /// Readable too.
    pub write: BTreeSet<PathBuf>,
    /// Named files among them whose folder is not open.
    #[serde(skip)]
    pub held: Vec<PathBuf>,
}

/// The whole path of the program `name`, found through `path`.
pub fn found(name: &str, path: &str) -> Result<PathBuf, Refusal> {
    found_from(&env::current_dir().unwrap_or_default(), name, path)
}

/// True if the program `name` can be run from the folder `here`, with our `PATH`.
pub fn is_there(name: &str, here: &Path) -> bool {
    let path = super::variable("PATH").unwrap_or_default();
    found_from(here, name, &path).is_ok()
}

fn found_from(here: &Path, name: &str, path: &str) -> Result<PathBuf, Refusal> {
    if name.contains('/') {
        let program = here.join(name);
        return match fs::metadata(&program) {
            Ok(about) if is_program(&about) => Ok(program),
            Ok(_) => Err(Refusal::MayNotRun),
            Err(_) => Err(Refusal::NoProgram),
        };
    }
    let mut refusal = Refusal::NoProgram;
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let program = here.join(folder).join(name);
        match fs::metadata(&program) {
            Ok(about) if is_program(&about) => return Ok(program),
            Ok(about) if about.is_file() => refusal = Refusal::MayNotRun,
            _ => {}
        }
    }
    Err(refusal)
}

fn is_program(about: &fs::Metadata) -> bool {
    about.is_file() && about.permissions().mode() & 0o111 != 0
}

pub fn rules(program: &Path, arguments: &[String], path: &str, said: &Confinement) -> Rules {
    let here = env::current_dir().unwrap_or_default();
    let mut all = Allowing::new(said, &here);
    SYSTEM.iter().for_each(|it| all.read(Path::new(it)));
    match geteuid().is_root() {
        true => ETC.iter().for_each(|it| all.read(Path::new(it))),
        false => all.read(Path::new("/etc")),
    }
    let installed = install::Installed { path, is_wide: &|folder| all.holds_others(folder) };
    for place in installed.places(program) {
        all.read(&place);
    }
    all.read_unless_wide(&here);
    for argument in arguments.iter().filter(|_| said.opens_arguments) {
        all.argument(&here, argument);
    }
    said.read.iter().for_each(|it| all.named(it, Allowing::read));
    said.write.iter().for_each(|it| all.named(it, Allowing::write));
    // Its own folders, wherever they are.
    all.rules.write.extend([said.home.clone(), said.scratch.clone()]);
    all.rules.held = all.held();
    all.rules
}

struct Allowing {
    rules: Rules,
    files: BTreeSet<PathBuf>,
    hidden: Vec<PathBuf>,
    home: PathBuf,
    person: Option<PathBuf>,
}

impl Allowing {
    fn new(said: &Confinement, here: &Path) -> Self {
        let mut hidden: Vec<PathBuf> = said.hidden.iter().map(|it| real(it)).collect();
        // Keys of containers and scripts.
        let secrets = fs::read_dir(here).into_iter().flatten().flatten();
        let secrets = secrets.filter(|it| it.file_name().as_encoded_bytes().starts_with(b".env"));
        hidden.extend(secrets.map(|it| real(&it.path())));
        let person = said.person.as_deref().map(real);
        let (rules, files) = (Rules::default(), BTreeSet::new());
        Self { rules, files, hidden, home: real(&said.home), person }
    }

    /// True if `folder` is too wide to open: a home, a folder above one, or one of [`WIDE`].
    fn is_wide(&self, folder: &Path) -> bool {
        let folder = real(folder);
        let above = |inner: &PathBuf| inner.starts_with(&folder);
        WIDE.iter().any(|wide| Path::new(wide) == folder)
            || folder.parent().is_none()
            || folder.parent() == Some(Path::new("/home"))
            || self.person.as_ref().is_some_and(above)
    }

    /// True if `folder` is wide or one of [`SHARED`]: it may contain files of others.
    fn holds_others(&self, folder: &Path) -> bool {
        let is_shared = |person: &PathBuf| SHARED.iter().any(|name| person.join(name) == *folder);
        self.is_wide(folder) || self.person.as_ref().is_some_and(is_shared)
    }

    fn held(&self) -> Vec<PathBuf> {
        let is_alone = |file: &&PathBuf| {
            let file = real(file);
            let open = || self.rules.read.iter().chain(&self.rules.write);
            let is_covered = open().any(|path| *path != file && file.starts_with(path));
            !is_covered && open().any(|path| *path == file)
        };
        self.files.iter().filter(is_alone).cloned().collect()
    }

    fn read(&mut self, path: &Path) {
        let open = |rules: &mut Rules, path| rules.read.insert(path);
        self.open(&real(path), open);
    }

    fn write(&mut self, path: &Path) {
        let open = |rules: &mut Rules, path| rules.write.insert(path);
        self.open(&real(path), open);
    }

    /// Opens a path that the configuration names, even if hidden by default; unnamed hidden paths
    /// in it stay closed.
    fn named(&mut self, path: &Path, open: fn(&mut Self, &Path)) {
        let (named, all) = (real(path), self.hidden.clone());
        self.hidden.retain(|it| !named.starts_with(it) || self.home.starts_with(it));
        open(self, path);
        self.hidden = all;
        if named.is_file() {
            self.files.insert(std::path::absolute(path).unwrap_or(named));
        }
    }

    fn read_unless_wide(&mut self, folder: &Path) {
        if !self.is_wide(folder) {
            self.read(folder);
        }
    }

    /// Opens `path` without the hidden entries in it.
    fn open(&mut self, path: &Path, open: fn(&mut Rules, PathBuf) -> bool) {
        if self.hidden.iter().any(|hidden| path.starts_with(hidden)) {
            return;
        }
        if !self.hidden.iter().any(|hidden| hidden.starts_with(path)) {
            open(&mut self.rules, path.to_owned());
            return;
        }
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            // A link's target is opened only when named.
            if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
                self.open(&entry.path(), open);
            }
        }
    }

    /// Opens a path of the command line: a folder, unless wide, as a working folder; a file for
    /// reading, with its project's folder unless that contains files of others.
    fn argument(&mut self, here: &Path, argument: &str) {
        let value = argument.split_once('=').map_or(argument, |(_, value)| value);
        let path = real(&here.join(value));
        if value.is_empty() || !path.exists() {
            return;
        }
        if path.is_dir() {
            if !self.is_wide(&path) {
                self.write(&path);
            }
            return;
        }
        self.read(&path);
        self.files.insert(here.join(value));
        let project = install::project(&path, &|folder| self.holds_others(folder));
        if let Some(project) = project {
            self.read(&project);
        }
    }
}

/// `path` without links, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let found = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        let real = above.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    });
    found.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(folder: &Path) -> Confinement {
        let at = |name: &str| folder.join(name);
        Confinement {
            read: vec![at("books"), at("table/secrets/shared"), at("table/data/sessions")],
            write: vec![at("notes")],
            hidden: vec![at("table/data"), at("table/glyphoxa.yaml"), at("table/secrets")],
            home: at("table/data/servers/x/home"),
            scratch: at("table/data/servers/x/tmp"),
            person: Some(at("person")),
            opens_arguments: true,
        }
    }

    fn place() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a folder");
        for made in [
            "books",
            "notes",
            "table/data/servers/x/home",
            "table/data/sessions",
            "table/npcs",
            "table/secrets/shared",
            "person/.ssh",
        ] {
            fs::create_dir_all(root.join(made)).expect("a folder");
        }
        for made in ["table/glyphoxa.yaml", "table/weather.py", "person/tool.py", "person/.ssh/id"]
        {
            fs::write(root.join(made), "x").expect("a file");
        }
        (folder, root)
    }

    fn may_read(rules: &Rules, path: &Path) -> bool {
        rules.read.iter().chain(&rules.write).any(|open| path.starts_with(open))
    }

    #[test]
    fn hidden_paths_stay_hidden_in_named_folders() {
        let (_folder, root) = place();
        let at = |name: &str| root.join(name);
        let table = at("table").display().to_string();
        let rules = rules(Path::new("/bin/sh"), &[table], "/bin", &said(&root));
        assert!(may_read(&rules, &at("table/weather.py")) && may_read(&rules, &at("table/npcs/b")));
        assert!(may_read(&rules, &at("books/a")) && may_read(&rules, &at("notes/a")));
        assert!(may_read(&rules, &at("table/secrets/shared/a")), "it is named");
        for hidden in [
            "table/glyphoxa.yaml",
            "table/secrets/a",
            "table/data/sessions/a.json",
            "person/.ssh/id",
        ] {
            assert!(!may_read(&rules, &at(hidden)), "{hidden}: {rules:#?}");
        }
        assert!(rules.write.contains(&at("table/data/servers/x/home")));
        assert!(!rules.write.contains(&at("books")) && rules.write.contains(&at("notes")));
    }

    #[test]
    fn home_stays_closed_when_named_in_arguments() {
        let (_folder, root) = place();
        let arguments = [root.join("person/tool.py"), root.join("person"), root.clone()];
        let arguments = arguments.map(|path| path.display().to_string());
        let rules = rules(Path::new("/bin/sh"), &arguments, "/bin", &said(&root));
        assert!(may_read(&rules, &root.join("person/tool.py")), "{rules:#?}");
        assert!(!may_read(&rules, &root.join("person/.ssh/id")), "{rules:#?}");
    }

    #[test]
    fn file_is_held_where_its_folder_is_too_wide() {
        let (_folder, root) = place();
        let at = |name: &str| root.join(name);
        fs::create_dir_all(at("person/.config/app")).expect("a folder");
        for made in ["person/.config/key", "person/.config/b", "person/.config/app/c", "books/page"]
        {
            fs::write(at(made), "x").expect("a file");
        }
        let named = [
            "person/tool.py",
            "person/.config/b",
            "person/.config/app/c",
            "books/page",
            // The configuration's folder is opened file by file, without the configuration.
            "table/weather.py",
            "table/glyphoxa.yaml",
        ];
        let arguments = named.map(|name| format!("--file={}", at(name).display()));
        let mut said = said(&root);
        said.read.push(at("person/.ssh/id"));
        let rules = rules(Path::new("/bin/sh"), &arguments, "/bin", &said);
        let held = ["person/.config/b", "person/.ssh/id", "person/tool.py", "table/weather.py"];
        assert_eq!(rules.held, held.map(at), "{rules:#?}");
        assert!(may_read(&rules, &at("person/.config/app/d")));
        assert!(!may_read(&rules, &at("person/.config/key")), "{rules:#?}");
    }

    #[test]
    fn programs_are_found_as_a_shell_finds_them() {
        assert!(found("sh", "/nowhere:/bin").is_ok_and(|it| it == Path::new("/bin/sh")));
        assert!(matches!(found("no-such-program", "/bin"), Err(Refusal::NoProgram)));
        assert!(matches!(found("/etc/passwd", "/bin"), Err(Refusal::MayNotRun)));
        assert!(matches!(found("/bin/no-such-program", "/bin"), Err(Refusal::NoProgram)));
    }
}
