//! `glyphoxa session`: what was said in kept sessions.
//!
//! Entry function: [`run`].

use std::{
    io::{self, Write},
    path::PathBuf,
};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{DONE, Failure, block_on, complain};
use crate::{
    app::{self, KeptError, KeptSession},
    config::Config,
    files,
    memory::{
        CampaignKey, Forget, Line, LineFilter, MemoryStore, SessionEntry, SessionFilter, Viewer,
    },
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa session list
  glyphoxa session show friday
  glyphoxa session export friday --out friday.md
  glyphoxa session delete friday")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// The campaign's sessions, the latest first.
    List {
        /// One JSON object a session.
        #[arg(long)]
        json: bool,
    },
    /// Who said what.
    Show {
        /// The session.
        id: String,
        /// Only the last lines, so many.
        #[arg(long, value_name = "N", default_value_t = 0)]
        last: usize,
        /// One JSON object a line, with everything that is known of it.
        #[arg(long)]
        json: bool,
    },
    /// The transcript as Markdown.
    Export {
        /// The session.
        id: String,
        /// Where to [default: stdout].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// One JSON object a line instead, with everything that is known of it.
        #[arg(long)]
        json: bool,
    },
    /// Deletes a session for good: its lines, what was made of them, what NPCs keep of it, its calls.
    Delete {
        /// The session.
        id: String,
        /// One JSON object: what was deleted.
        #[arg(long)]
        json: bool,
    },
}

/// Does what the arguments say.
///
/// # Errors
/// There is no such session, or the memory cannot be read or written.
pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let campaign = app::campaign_key(config);
        let at = (&*store, &campaign);
        match arguments.action {
            Action::List { json } => list(at, json).await,
            Action::Show { id, last, json } => {
                let lines = lines(at, &id, last).await?;
                print(&lines, json, &mut io::stdout().lock())?;
                Ok(DONE)
            }
            Action::Export { id, out, json } => export(at, &id, out, json).await,
            Action::Delete { id, json } => delete(config, at, &id, json).await,
        }
    })
}

/// A store and the campaign that is asked for.
type At<'a> = (&'a dyn MemoryStore, &'a CampaignKey);

async fn list((store, campaign): At<'_>, json: bool) -> Result<u8, Failure> {
    let entries = store.sessions(campaign, SessionFilter::default()).await?;
    let mut out = io::stdout().lock();
    if entries.is_empty() && !json {
        writeln!(out, "no session is kept of the campaign '{}'", campaign.0)?;
    }
    for entry in entries {
        if json {
            writeln!(out, "{}", serde_json::to_string(&entry)?)?;
        } else {
            let begun = entry.session.started.map_or_else(String::new, date);
            let title = entry.session.title.as_deref().unwrap_or_default();
            let line =
                format!("{:<32} {begun}  {:>6} lines  {title}", entry.session.id, entry.lines);
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(DONE)
}

/// The session `id`.
async fn find((store, campaign): At<'_>, id: &str) -> Result<SessionEntry, Failure> {
    let filter = SessionFilter { id: Some(id.to_owned()), ..SessionFilter::default() };
    store.sessions(campaign, filter).await?.pop().ok_or_else(|| {
        Failure::Failed(anyhow::anyhow!(
            "the campaign '{}' has no session '{id}' (glyphoxa session list)",
            campaign.0
        ))
    })
}

async fn lines(at: At<'_>, id: &str, last: usize) -> Result<Vec<Line>, Failure> {
    find(at, id).await?;
    let filter = LineFilter {
        session: Some(id.to_owned()),
        gaps: true,
        limit: last,
        ..LineFilter::default()
    };
    Ok(at.0.lines(at.1, filter, Viewer::Dm).await?)
}

/// Prints lines for people or for programs.
fn print(lines: &[Line], json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for line in lines {
        if json {
            writeln!(out, "{}", serde_json::to_string(line)?)?;
        } else {
            writeln!(out, "{} {}", time(line.said.at), said(line))?;
        }
    }
    Ok(())
}

/// Who said what, in a line.
pub fn said(line: &Line) -> String {
    if line.withdrawn {
        return "(taken back)".to_owned();
    }
    let speaker = &line.said.speaker;
    let who = line
        .said
        .character
        .as_ref()
        .map_or_else(|| speaker.clone(), |character| format!("{character} ({speaker})"));
    format!("{who}: {}", line.said.text)
}

async fn export(at: At<'_>, id: &str, out: Option<PathBuf>, json: bool) -> Result<u8, Failure> {
    let entry = find(at, id).await?;
    let lines = lines(at, id, 0).await?;
    let mut text = Vec::new();
    if json {
        print(&lines, true, &mut text)?;
    } else {
        let session = &entry.session;
        writeln!(text, "# {}\n", session.title.as_deref().unwrap_or(&session.id))?;
        writeln!(
            text,
            "{}, campaign {}\n",
            session.started.map_or_else(String::new, date),
            at.1.0
        )?;
        if let Some(summary) = &session.summary {
            writeln!(text, "{summary}\n")?;
        }
        for line in &lines {
            writeln!(text, "- {} {}", time(line.said.at), said(line).replace('\n', " "))?;
        }
    }
    match out {
        None => io::stdout().lock().write_all(&text)?,
        Some(path) => files::replace(&path, &text)
            .with_context(|| format!("cannot write '{}'", path.display()))?,
    }
    Ok(DONE)
}

async fn delete(config: &Config, at: At<'_>, id: &str, json: bool) -> Result<u8, Failure> {
    let kept = KeptSession::open(&config.data_dir, id).map_err(|error| match error {
        KeptError::Name(_) => Failure::Usage(error.to_string()),
        KeptError::File(error) => Failure::Failed(error),
    })?;
    let gone = at.0.forget(at.1, Forget::Session(id.to_owned())).await?;
    let had_files = kept.delete()?;
    if gone.sessions == 0 && !had_files {
        find(at, id).await?;
    }
    if json {
        writeln!(io::stdout().lock(), "{}", serde_json::to_string(&gone)?)?;
    } else {
        complain(&format!("deleted '{id}': {} lines", gone.lines));
    }
    Ok(DONE)
}

/// A day, as YYYY-MM-DD hh:mm, UTC.
fn date(at: i64) -> String {
    let (year, month, day) = civil(at.div_euclid(86_400_000));
    format!("{year:04}-{month:02}-{day:02} {}", &time(at)[..5])
}

/// A time of day, as hh:mm:ss, UTC.
fn time(at: i64) -> String {
    let seconds = at.div_euclid(1_000).rem_euclid(86_400);
    format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// Year, month and day of a number of days since 1970-01-01, by Hinnant's algorithm.
const fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let part = (5 * of_year + 2) / 153;
    let day = of_year - (153 * part + 2) / 5 + 1;
    let month = if part < 10 { part + 3 } else { part - 9 };
    (year + era * 400 + if month <= 2 { 1 } else { 0 }, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01 00:00");
        assert_eq!(date(951_782_400_000), "2000-02-29 00:00");
        assert_eq!(date(1_795_337_697_000), "2026-11-22 08:54");
        assert_eq!(time(1_795_337_697_000), "08:54:57");
    }
}
