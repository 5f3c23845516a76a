//! `glyphoxa models get`.

use std::{
    io::{self, IsTerminal, Write},
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    super::{DONE, FAILED, Failure, complain, stdout},
    list::{size, unknown},
};
use crate::{
    domain::{redact, revealed},
    provider::{GetError, Getting, PackageSources, Step, get_weights},
    weights::{State, WeightSet, Weights},
};

/// Progress lines per set without a terminal.
const QUARTERS: u64 = 4;

#[derive(Args)]
#[command(after_help = "example: glyphoxa models get whisper-tiny.en piper-joe")]
pub struct Arguments {
    /// Sets to get (see: glyphoxa models list).
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Get the recommended sets too: hearing and a voice for English.
    #[arg(long)]
    default: bool,
}

/// Downloads missing or damaged files; exit status 1 if one fails.
pub async fn run(
    weights: &Weights,
    sources: &PackageSources,
    arguments: &Arguments,
) -> Result<u8, Failure> {
    let mut status = DONE;
    for set in wanted(weights, arguments)? {
        if let State::Here(folder) = weights.state(set) {
            writeln!(stdout(), "{} is here: '{}'", set.name, folder.display())?;
            continue;
        }
        let getting = Getting { sources, set, folder: weights.folder().to_owned() };
        let mut progress = SetProgress::of(set);
        let mut told = |step| progress.step(step);
        let got = tokio::select! {
            biased;
            // First, because it ends the program until it is listened for.
            interrupted = tokio::signal::ctrl_c() => {
                interrupted?;
                None
            }
            got = get_weights(&getting, &mut told) => Some(got),
        };
        progress.end();
        let Some(got) = got else { return Err(Failure::Failed(progress.stopped())) };
        match got {
            Ok(folder) => {
                let place = folder.display();
                writeln!(stdout(), "{} is now in '{place}'", set.name)?;
                if let Some(caveat) = &set.caveat {
                    writeln!(stdout(), "    licence: {}\n    note: {caveat}", set.licence)?;
                }
            }
            Err(error) => {
                complain(&failed(set, &error));
                status = FAILED;
            }
        }
    }
    Ok(status)
}

fn failed(set: &WeightSet, error: &GetError) -> String {
    redact::known(&format!("cannot get {}: {error}", set.name)).into_owned()
}

/// Sets of the arguments, without duplicates.
fn wanted<'a>(weights: &'a Weights, arguments: &Arguments) -> Result<Vec<&'a WeightSet>, Failure> {
    if arguments.names.is_empty() && !arguments.default {
        let what = "no model named (see: glyphoxa models list; or use --default)";
        return Err(Failure::usage(what));
    }
    if let Some(name) = arguments.names.iter().find(|name| weights.set(name).is_none()) {
        return Err(unknown(weights, name));
    }
    let is_wanted = |set: &&WeightSet| {
        arguments.names.contains(&set.name) || (arguments.default && set.is_default)
    };
    Ok(weights.sets().iter().filter(is_wanted).collect())
}

/// Progress of one set: a bar at a terminal, else a few lines.
struct SetProgress {
    name: String,
    all: u64,
    have: u64,
    /// The last printed quarter.
    told: Option<u64>,
    bar: Option<ProgressBar>,
}

impl SetProgress {
    fn of(set: &WeightSet) -> Self {
        let all = set.download_bytes();
        let bar = io::stderr().is_terminal().then(|| {
            let style = "{msg} [{bar:30}] {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left";
            let bar = ProgressBar::new(all).with_message(set.name.clone());
            // The style is a constant; without it the bar looks plainer.
            let style = ProgressStyle::with_template(style).map(|it| it.progress_chars("=> "));
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Self { name: set.name.clone(), all, have: 0, told: None, bar }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Came(have) => self.came(have),
            Step::Again(have) => {
                self.came(have);
                self.say(&format!("{}: the connection broke; resuming", self.so_far()));
            }
            Step::Publisher { why, bytes } => {
                self.say(&redact::known(&format!("{}: {why}; trying the publisher", self.name)));
                self.all = bytes;
                self.told = None;
                if let Some(bar) = &self.bar {
                    bar.set_length(bytes);
                }
            }
            Step::Unpacking => self.say(&format!("{}: unpacking", self.name)),
        }
    }

    fn came(&mut self, have: u64) {
        self.have = have;
        if let Some(bar) = &self.bar {
            return bar.set_position(have);
        }
        let quarter = have.saturating_mul(QUARTERS) / self.all.max(1);
        if self.told != Some(quarter) {
            self.told = Some(quarter);
            complain(&self.so_far());
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(revealed(text)),
            None => complain(text),
        }
    }

    fn so_far(&self) -> String {
        format!("{}: {} of {}", self.name, size(self.have), size(self.all))
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Message after Ctrl-C.
    fn stopped(&self) -> anyhow::Error {
        anyhow::anyhow!(
            "stopped after {} of {} (glyphoxa models get {} resumes there)",
            size(self.have),
            size(self.all),
            self.name
        )
    }
}
