//! This process's environment, copied once and then overwritten where others could read it; and
//! the protection of its memory and files from other processes and users.
//!
//! Entry functions: [`hide`], [`variable`]. The initial environment stays readable in
//! `/proc/PID/environ`, even after a variable is removed, so the bytes themselves are overwritten.
//! Variables that libraries look for (`PATH`, certificates, the screen) stay. **Never**: runs
//! beside another thread.
#![expect(unsafe_code, reason = "the block a process was started with has no safe face")]

use std::{
    collections::BTreeMap,
    env,
    ffi::{CStr, OsStr, OsString, c_char},
    fs,
    path::Path,
    ptr,
    sync::OnceLock,
};

use rustix::{
    fs::Mode,
    process::{DumpableBehavior, set_dumpable_behavior, umask},
};

/// Folder of systemd's credentials.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";
/// Credential with variables, one `NAME=value` per line.
const CREDENTIAL: &str = "environment";
/// Harmless variables that libraries and child processes need.
const PUBLIC: &[&str] = &[
    "BROWSER",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "COLORTERM",
    "COLUMNS",
    CREDENTIALS,
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "ESPEAK_DATA_PATH",
    "FORCE_COLOR",
    "HOME",
    "HOSTNAME",
    "LANG",
    "LANGUAGE",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LINES",
    "LLVM_PROFILE_FILE",
    "LOGNAME",
    "NO_COLOR",
    "OLDPWD",
    "PATH",
    "PWD",
    "RUST_BACKTRACE",
    "RUST_LIB_BACKTRACE",
    "RUST_LOG",
    "SHELL",
    "SHLVL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
];
/// Prefixes of further such names.
const PUBLIC_STARTS: &[&str] = &["LC_", "XDG_"];
/// Variables that HTTP clients read and that may contain a password: moved to memory hidden from
/// other processes.
const MOVED: &[&str] = &["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];

/// The environment as it was at the start.
static TAKEN: OnceLock<BTreeMap<String, String>> = OnceLock::new();

unsafe extern "C" {
    /// Pointers to `NAME=value`, then a null.
    static environ: *const *mut c_char;
}

/// Hides this process's memory and environment from its user's other processes, and its new files
/// from other users. Call it first, before any thread starts.
pub fn hide() {
    take();
    // Without it another process of this user could open our memory, files and environment. It does
    // not fail on Linux.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    umask(Mode::RWXG | Mode::RWXO);
}

/// Copies the environment, and overwrites all variables not known to be public.
pub fn take() {
    let all: Vec<(OsString, OsString)> = env::vars_os().collect();
    let is_private = |name: &OsStr| name.to_str().is_none_or(|name| !is_public(name));
    let found = blocks(is_private);
    for (name, value) in &all {
        if !is_private(name) {
            continue;
        }
        let moved = name.to_str().is_some_and(|it| MOVED.contains(&&*it.to_ascii_uppercase()));
        // SAFETY: no other thread runs yet, so the environment is not read or changed meanwhile.
        unsafe {
            env::remove_var(name);
            if moved {
                env::set_var(name, value);
            }
        }
    }
    for (start, length) in found {
        // SAFETY: these bytes are the process's own and writable, and no pointer leads to them any
        // more: the list of variables has lost them above, and std hands out copies.
        unsafe { ptr::write_bytes(start, 0, length) };
    }
    let _ = TAKEN.set(known(all));
}

/// A variable from the initial environment or a systemd credential.
#[expect(clippy::disallowed_methods, reason = "where nothing was taken it is where it always was")]
pub fn variable(name: &str) -> Option<String> {
    match TAKEN.get() {
        Some(taken) => taken.get(name).cloned(),
        // A test or a bench, which has threads from its start.
        None => env::var(name).ok(),
    }
}

fn blocks(which: impl Fn(&OsStr) -> bool) -> Vec<(*mut u8, usize)> {
    let mut found = Vec::new();
    // SAFETY: the list is unchanged since the process began, so it holds pointers to
    // null-terminated texts, and ends with a null itself.
    unsafe {
        let mut next = environ;
        while !next.is_null() && !(*next).is_null() {
            let text = CStr::from_ptr(*next).to_bytes();
            let name = text.split(|byte| *byte == b'=').next().unwrap_or_default();
            let name: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(name);
            if which(name) {
                found.push(((*next).cast::<u8>(), text.len()));
            }
            next = next.add(1);
        }
    }
    found
}

fn is_public(name: &str) -> bool {
    PUBLIC.contains(&name) || PUBLIC_STARTS.iter().any(|start| name.starts_with(start))
}

fn known(all: Vec<(OsString, OsString)>) -> BTreeMap<String, String> {
    let text = |(name, value): (OsString, OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    let own: BTreeMap<String, String> = all.into_iter().filter_map(text).collect();
    let folder = own.get(CREDENTIALS).map(Path::new);
    let handed = folder.and_then(|folder| fs::read_to_string(folder.join(CREDENTIAL)).ok());
    let mut known: BTreeMap<String, String> =
        handed.as_deref().unwrap_or_default().lines().filter_map(assigned).collect();
    known.extend(own);
    known
}

fn assigned(line: &str) -> Option<(String, String)> {
    let line = line.trim();
    let (name, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';']))?;
    let value = value.trim();
    let bare =
        ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
    Some((name.trim().to_owned(), bare.unwrap_or(value).to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_parses_like_systemd_env_file() {
        let of = |line: &str| assigned(line);
        let is = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(of("DISCORD_TOKEN=a.b=c"), is("DISCORD_TOKEN", "a.b=c"));
        assert_eq!(of("  KEY = \"two words\" "), is("KEY", "two words"));
        assert_eq!(of("KEY='x"), is("KEY", "'x"));
        assert_eq!((of("# KEY=x"), of("; KEY=x"), of("nothing"), of("")), (None, None, None, None));
    }

    #[test]
    fn nothing_that_may_be_a_key_is_public() {
        for public in ["PATH", "LC_ALL", "XDG_RUNTIME_DIR"] {
            assert!(is_public(public), "{public}");
        }
        for private in ["DISCORD_TOKEN", "OPENAI_API_KEY", "HTTPS_PROXY", "PATH_TO_KEY", "LANG_KEY"]
        {
            assert!(!is_public(private), "{private}");
        }
    }
}
