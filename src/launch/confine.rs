//! Drops rights this process does not need, then becomes another program.
//!
//! Entry functions: [`confine`], [`is_possible`]. Returns only on failure.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, ExitCode},
};

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::{
    process::{Resource, Rlimit, geteuid, getrlimit, setrlimit},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

use super::allowed::Rules;

const NEWEST: ABI = ABI::V6;
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
/// Processes a program may create beyond its user's current ones.
const PROCESSES: u64 = 1_024;
/// Exit status when the program could not be started.
const NOT_STARTED: u8 = 126;

/// True if this kernel can confine a program.
pub fn is_possible() -> bool {
    Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::Execute)
        .and_then(|ruleset| ruleset.create())
        .is_ok()
}

/// Keeps only the rights in the rules, the first of `arguments`, then executes the program that
/// follows.
pub fn confine(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let rules = arguments.next().and_then(|rules| serde_json::from_str(rules.to_str()?).ok());
    let (Some(rules), Some(program)) = (rules, arguments.next()) else {
        return failed("only glyphoxa itself runs this command");
    };
    limit();
    if let Err(error) = give_up_rights() {
        return failed(&format!("cannot drop capabilities: {error}"));
    }
    if let Err(error) = landlocked(&rules) {
        return failed(&format!("Landlock failed: {error}"));
    }
    let error = Command::new(&program).args(arguments).exec();
    failed(&format!("cannot start '{}': {error}", Path::new(&program).display()))
}

fn failed(why: &str) -> ExitCode {
    // Ignore errors: stderr may be closed.
    let _ = writeln!(io::stderr(), "{why}");
    ExitCode::from(NOT_STARTED)
}

/// Limits the number of processes (the kernel does not count root's) and disables core dumps, which
/// could contain secrets.
fn limit() {
    let lower = |resource, to: u64| {
        let now = getrlimit(resource);
        let current = Some(now.current.map_or(to, |current| current.min(to)));
        // A limit that cannot be lowered stays as it was.
        let _ = setrlimit(resource, Rlimit { current, maximum: current });
    };
    lower(Resource::Core, 0);
    lower(Resource::Nproc, tasks().saturating_add(PROCESSES));
}

fn tasks() -> u64 {
    use std::os::unix::fs::MetadataExt;
    let user = geteuid().as_raw();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let threads =
        processes.filter(|it| it.metadata().is_ok_and(|about| about.uid() == user)).map(|it| {
            fs::metadata(it.path().join("task")).map_or(0, |about| about.nlink().saturating_sub(2))
        });
    threads.sum()
}

/// Drops all of root's capabilities but access to its own files: others would let it inspect every
/// process.
fn give_up_rights() -> io::Result<()> {
    set_no_new_privs(true)?;
    for capability in CapabilitySet::all().iter() {
        // Without the capability for this, no capability is left to drop.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, none)?)
}

/// Restricts this process to `rules`. Without Landlock it does nothing; the caller checks that.
fn landlocked(rules: &Rules) -> Result<(), RulesetError> {
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let read = AccessFs::from_read(NEWEST);
    for path in &rules.read {
        ruleset = with(ruleset, path, read)?;
    }
    for path in &rules.write {
        ruleset = with(ruleset, path, AccessFs::from_all(NEWEST))?;
    }
    for path in DEVICES {
        ruleset = with(ruleset, Path::new(path), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    // Its own entry; the process ids of its children are not known yet.
    ruleset = with(ruleset, Path::new("/proc/self"), AccessFs::ReadFile | AccessFs::ReadDir)?;
    ruleset.restrict_self().map(drop)
}

fn with(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    match PathFd::new(path) {
        Ok(fd) => ruleset.add_rule(PathBeneath::new(fd, access)),
        Err(_) => Ok(ruleset),
    }
}
