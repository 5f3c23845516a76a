//! `glyphoxa models list`.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::super::{DONE, FAILED, Failure, stdout};
use crate::{
    domain::redact,
    weights::{Digest, Package, State, WeightSet, Weights},
    yaml::nearest,
};

const MEGA: u64 = 1_000_000;

#[derive(Args)]
#[command(after_help = "example: glyphoxa models list --verify")]
pub struct Arguments {
    /// Compare hashes, not only lengths.
    #[arg(long)]
    verify: bool,
    /// Print one JSON object per set.
    #[arg(long)]
    json: bool,
}

/// A set in JSON.
#[derive(Serialize)]
struct SetLine<'a> {
    name: &'a str,
    purpose: &'a str,
    default: bool,
    state: &'static str,
    why: Option<&'a str>,
    folder: Option<String>,
    verified: bool,
    download_bytes: u64,
    disk_bytes: u64,
    licence: &'a str,
    caveat: Option<&'a str>,
    packages: Vec<PackageLine<'a>>,
    published: Vec<PackageLine<'a>>,
    files: Vec<FileLine<'a>>,
}

/// A package in JSON.
#[derive(Serialize)]
struct PackageLine<'a> {
    from: String,
    file: &'a str,
    bytes: u64,
    sha256: &'a Digest,
}

/// A file in JSON.
#[derive(Serialize)]
struct FileLine<'a> {
    name: &'a str,
    bytes: u64,
    sha256: &'a Digest,
}

/// Prints every set; exit status 1 if one is damaged.
pub fn run(weights: &Weights, arguments: &Arguments) -> Result<u8, Failure> {
    let mut out = stdout();
    let mut status = DONE;
    for set in weights.sets() {
        let state = if arguments.verify { weights.verified(set) } else { weights.state(set) };
        if arguments.verify && matches!(state, State::Damaged { .. }) {
            status = FAILED;
        }
        if arguments.json {
            let line = line(set, &state, arguments.verify);
            writeln!(out, "{}", serde_json::to_string(&line)?)?;
        } else {
            block(&mut out, set, &state)?;
        }
    }
    for name in weights.left_over() {
        if arguments.json {
            writeln!(out, "{}", serde_json::json!({"name": name, "state": "left over"}))?;
        } else {
            writeln!(out, "- {name}: left over; nothing uses it (glyphoxa models remove {name})")?;
        }
    }
    Ok(status)
}

fn line<'a>(set: &'a WeightSet, state: &'a State, verified: bool) -> SetLine<'a> {
    let (state, why, folder) = match state {
        State::Absent => ("absent", None, None),
        State::Here(folder) => ("here", None, Some(folder)),
        State::Damaged { folder, why } => ("damaged", Some(why.as_str()), Some(folder)),
    };
    let packages = |them: &'a [Package]| {
        let line = |it: &'a Package| PackageLine {
            from: from(it),
            file: &it.file,
            bytes: it.bytes,
            sha256: &it.sha256,
        };
        them.iter().map(line).collect()
    };
    let files =
        set.files.iter().map(|it| FileLine { name: &it.name, bytes: it.bytes, sha256: &it.sha256 });
    SetLine {
        name: &set.name,
        purpose: &set.purpose,
        default: set.is_default,
        state,
        why,
        folder: folder.map(|it| it.display().to_string()),
        verified: verified && state == "here",
        download_bytes: set.download_bytes(),
        disk_bytes: set.disk_bytes(),
        licence: &set.licence,
        caveat: set.caveat.as_deref(),
        packages: packages(&set.packages),
        published: packages(&set.published),
        files: files.collect(),
    }
}

fn block(out: &mut impl Write, set: &WeightSet, state: &State) -> io::Result<()> {
    let mark = match state {
        State::Here(_) => '✓',
        State::Absent => '-',
        State::Damaged { .. } => '✗',
    };
    let default = if set.is_default { " (default)" } else { "" };
    writeln!(out, "{mark} {}{default}: {}", set.name, set.purpose)?;
    match state {
        State::Here(folder) => writeln!(out, "    in '{}'", folder.display())?,
        State::Absent => writeln!(out, "    not here (glyphoxa models get {})", set.name)?,
        State::Damaged { folder, why } => writeln!(
            out,
            "    in '{}', damaged: {why} (glyphoxa models get {})",
            folder.display(),
            set.name
        )?,
    }
    let (download, disk) = (size(set.download_bytes()), size(set.disk_bytes()));
    writeln!(out, "    {download} to download, {disk} on the disk")?;
    writeln!(out, "    licence: {}", set.licence)?;
    if let Some(caveat) = &set.caveat {
        writeln!(out, "    note: {caveat}")?;
    }
    for package in &set.packages {
        writeln!(out, "    from {}, sha256 {}", from(package), package.sha256)?;
    }
    if let Some(package) = set.published.first() {
        writeln!(out, "    or the same files from {}", from(package))?;
    }
    Ok(())
}

/// Origin of a package, redacted: an address may contain values from the environment.
fn from(package: &Package) -> String {
    redact::known(&package.origin.to_string()).into_owned()
}

pub fn size(bytes: u64) -> String {
    let tenths = bytes.saturating_mul(10).saturating_add(MEGA / 2) / MEGA;
    if bytes < MEGA / 10 {
        return format!("{} kB", bytes.div_ceil(1_000));
    }
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// Failure for an unknown set, with the nearest name if one is close.
pub fn unknown(weights: &Weights, name: &str) -> Failure {
    let known = weights.sets().iter().map(|set| set.name.as_str());
    let way_out = nearest(name, known).map_or_else(
        || "see: glyphoxa models list".to_owned(),
        |near| format!("did you mean {near}? see: glyphoxa models list"),
    );
    Failure::usage(format!("unknown model files '{name}' ({way_out})"))
}
