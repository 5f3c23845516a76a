//! `glyphoxa trust`: actions of a folder's configuration and the user's agreement, also asked
//! before other commands.
//!
//! Entry types: [`Configured`], [`Arguments`]; entry function: [`run`].

use std::{
    io::{self, BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{DONE, Failure, complain, load, stdout};
use crate::{
    config::{self, Agreements, Config, Demand, FILE_NAME, Use},
    domain::revealed_name,
    tools::builtin,
};

/// Lines that fit on a screen.
const SCREEN: usize = 12;

#[derive(Args)]
#[command(after_help = "example: glyphoxa trust ~/campaigns/ravenford\n\
                        Without a terminal it refuses, unless --trust agrees for you.")]
pub struct Arguments {
    /// Folder with a glyphoxa.yaml, or the file itself [default: --config, then this folder].
    folder: Option<PathBuf>,
    /// Print what needs your trust, and record nothing.
    #[arg(long)]
    show: bool,
    /// Take your yes back: the next command asks again.
    #[arg(long, conflicts_with = "show")]
    forget: bool,
}

/// The configuration of a command, and the command line's trust in it.
#[derive(Clone, Copy)]
pub struct Configured<'a> {
    /// Its file, if named.
    pub path: Option<&'a Path>,
    /// True with `--trust`.
    pub is_trusted: bool,
}

impl Configured<'_> {
    /// The checked configuration for a command that may start programs and talk to services.
    pub fn load(self) -> Result<Config, Failure> {
        self.load_for(Use::Play)
    }

    /// Like [`Configured::load`], for a command that performs only `of`.
    pub fn load_for(self, of: Use) -> Result<Config, Failure> {
        let mut config = load(self.path)?;
        self.agreed(&config, of)?;
        self.agreements().settle(&mut config);
        Ok(config)
    }

    /// Asks for missing agreements to `config`; without a terminal it refuses.
    pub fn agreed(self, config: &Config, of: Use) -> Result<(), Failure> {
        let lacking = self.agreements().lacking(config, of);
        if !lacking.is_empty() {
            ask(config, &lacking)?;
        }
        if !self.is_trusted {
            // On failure, the user is asked about it later.
            _ = config::record_data(config);
        }
        Ok(())
    }

    /// Agreements of the command line.
    pub fn agreements(self) -> Agreements {
        Agreements::new(self.is_trusted)
    }
}

/// Asks for agreement to `config`; `lacking`: its demands without one.
fn ask(config: &Config, lacking: &[&Demand]) -> Result<(), Failure> {
    let way_out = config::way_out(config);
    if !is_at_terminal() {
        let lines = lines(lacking.iter().copied()) + &changed(config);
        complain(&format!("{} needs your trust first, because it would:\n{lines}", named(config)));
        let way_out = format!("(if you agree: {way_out}; for services and containers: --trust)");
        return Err(Failure::Usage(way_out));
    }
    complain(&question(config));
    if !says_yes()? {
        return Err(Failure::Usage(format!("nothing was started or sent (to agree: {way_out})")));
    }
    if let Err(error) = config::record_agreement(config) {
        complain(&format!("note: your answer holds for this time only: {error}"));
    }
    Ok(())
}

/// Shows the actions of the folder's configuration, and records the user's agreement.
pub fn run(configured: Configured<'_>, arguments: &Arguments) -> Result<u8, Failure> {
    let given = arguments.folder.as_ref().map(|folder| match folder.is_dir() {
        true => folder.join(FILE_NAME),
        false => folder.clone(),
    });
    let path = given.as_deref().or(configured.path);
    if arguments.forget {
        return forget(path.unwrap_or(Path::new(FILE_NAME)));
    }
    let read = config::load(path, &config::environment, builtin::IDENTITIES);
    let config = read.map_err(Failure::usage)?;
    let mut out = stdout();
    if config.demands.is_empty() {
        writeln!(out, "{} needs no trust", named(&config))?;
        return Ok(DONE);
    }
    let would = || format!("{} would:\n{}", named(&config), lines(config.demands.iter()));
    if arguments.show {
        let lacks = |of| !Agreements::default().lacking(&config, of).is_empty();
        let lacks = [Use::Play, Use::Download].into_iter().any(lacks);
        writeln!(out, "{}\n{}", would(), if lacks { "not trusted yet" } else { "trusted" })?;
        return Ok(DONE);
    }
    if configured.is_trusted {
        writeln!(out, "{}", would())?;
    } else if is_at_terminal() {
        complain(&question(&config));
        if !says_yes()? {
            return Err(Failure::Usage("nothing was recorded".to_owned()));
        }
    } else {
        complain(&would());
        let way_out = "(run it at a terminal, or agree with --trust)";
        return Err(Failure::Usage(format!(
            "nothing was recorded: no terminal to ask at {way_out}"
        )));
    }
    config::record_agreement(&config)?;
    writeln!(out, "trusted, until one of these lines or a file that its programs may run changes")?;
    Ok(DONE)
}

/// Takes back the yes to the configuration `file`, which may have errors.
fn forget(file: &Path) -> Result<u8, Failure> {
    let name = named_file(file);
    let told = match config::forget_agreement(file)? {
        true => format!("{name} is no longer trusted; running programs go on until they end"),
        false => format!("{name} was not trusted"),
    };
    writeln!(stdout(), "{told}")?;
    Ok(DONE)
}

/// The question to the game master.
fn question(config: &Config) -> String {
    format!(
        "{} would:\n{}{}\nDo you trust it? You won't be asked again until one of these lines changes, or a \
         file that its programs may run. [y/N]",
        named(config),
        lines(config.demands.iter()),
        changed(config)
    )
}

/// Names files changed since the agreement; empty if the question has another reason.
fn changed(config: &Config) -> String {
    let Some(files) = config::changed_files(config) else { return String::new() };
    let named: Vec<String> =
        files.iter().map(|file| format!("'{}'", revealed_name(file))).collect();
    match named.is_empty() {
        true => "\n(files that its programs may run are gone or renamed since your yes)".to_owned(),
        false => format!("\n(changed since your yes: {})", named.join(", ")),
    }
}

/// The configuration's file in messages.
fn named(config: &Config) -> String {
    named_file(config.files.first().map_or(Path::new(FILE_NAME), PathBuf::as_path))
}

/// A configuration's file as messages name it.
fn named_file(file: &Path) -> String {
    format!("'{}'", revealed_name(&file.display().to_string()))
}

/// One demand per line, and their number if they may not fit on a screen. Not redacted: they
/// contain no values of variables, and an author could hide anything by calling it a password.
fn lines<'d>(demands: impl Iterator<Item = &'d Demand>) -> String {
    let demands: Vec<_> = demands.collect();
    let mut all: Vec<String> = demands.iter().map(|demand| format!("  - {demand}")).collect();
    if all.len() > SCREEN {
        let programs = demands.iter().filter(|demand| demand.is_about_code()).count();
        all.push(format!("  ({} in all, {programs} of them programs)", demands.len()));
    }
    all.join("\n")
}

/// True if a user can read and answer the question.
fn is_at_terminal() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Only the words of `[y/N]` count, not those of a player at the table.
fn says_yes() -> io::Result<bool> {
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].iter().any(|yes| answer.trim().eq_ignore_ascii_case(yes)))
}
