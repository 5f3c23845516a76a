//! `glyphoxa session`: stored sessions. Entry function: [`run`].

use std::{io::Write, path::PathBuf};

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{DONE, Failure, block_on, complain, counted, shown::Shown, stdout, whose::Whose};
use crate::{
    app,
    campaign::{self, AccountFor, KeptError, KeptSession, KeptStore, Scoped, Writer, date, time},
    config::{Config, Use},
    domain::revealed_name,
    files,
    memory::{Forget, LineFilter, Pick, SessionEntry, SessionFilter, TranscriptLine, Viewer},
    provider::Registry,
};

#[derive(Args)]
#[command(after_help = "examples:
  glyphoxa session list
  glyphoxa session show friday
  glyphoxa session recap friday
  glyphoxa session export friday --out friday.md
  glyphoxa session delete friday")]
pub struct Arguments {
    #[command(flatten)]
    whose: Whose,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Lists the campaign's sessions, latest first.
    List {
        /// Print one JSON object per session.
        #[arg(long)]
        json: bool,
    },
    /// Prints the transcript.
    Show {
        /// Session id, as in `glyphoxa session list`.
        id: String,
        /// Show only the last N lines [0: all].
        #[arg(long, value_name = "N", default_value_t = 0)]
        last: usize,
        /// Show only these lines, numbered as in a recap.
        #[arg(long, value_name = "FROM-TO", value_parser = range, conflicts_with = "last")]
        lines: Option<Pick>,
        /// Print one JSON object per line, with all details.
        #[arg(long)]
        json: bool,
    },
    /// Recaps a session, citing line numbers, with the assistant's model or as an extract without one.
    /// A recap for players becomes the session's summary.
    Recap {
        /// Session id, as in `glyphoxa session list`.
        id: String,
        /// Include secrets of the game master.
        #[arg(long)]
        dm: bool,
        /// Extract from the lines alone, without a model.
        #[arg(long)]
        extract: bool,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Exports the transcript as Markdown.
    Export {
        /// Session id, as in `glyphoxa session list`.
        id: String,
        /// Output file [default: stdout].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
        /// Print one JSON object per line instead, with all details.
        #[arg(long)]
        json: bool,
    },
    /// Deletes a session for good: its lines, summaries, facts, tool calls and the NPCs' memory of it.
    Delete {
        /// Session id, as in `glyphoxa session list`.
        id: String,
        /// Print the deleted items as one JSON object.
        #[arg(long)]
        json: bool,
    },
}

impl Arguments {
    /// Uses of the action beyond reading: a recap may call a model.
    pub fn does(&self) -> Use {
        match self.action {
            Action::Recap { extract: false, .. } => Use::Play,
            _ => Use::Remember,
        }
    }
}

pub fn run(config: &Config, arguments: Arguments) -> Result<u8, Failure> {
    block_on(async {
        let store = app::open_memory(config).await?;
        let scope = arguments.whose.scope(config);
        let at = Scoped::new(&*store, &scope);
        match arguments.action {
            Action::List { json } => list(at, json).await,
            Action::Show { id, last, lines: part, json } => {
                let lines = lines(at, &id, part.unwrap_or_default(), last).await?;
                print(&lines, json, &mut stdout())?;
                Ok(DONE)
            }
            Action::Recap { id, dm, extract, json } => {
                let viewer = if dm { Viewer::Dm } else { Viewer::Everyone };
                let options = RecapOptions { id: &id, viewer, extract, json };
                recap(config, at, options).await
            }
            Action::Export { id, out, json } => export(at, &id, out, json).await,
            Action::Delete { id, json } => delete(config, at, &id, json).await,
        }
    })
}

async fn list(at: Scoped<'_>, json: bool) -> Result<u8, Failure> {
    let entries = at.store.sessions(at.scope, SessionFilter::default()).await?;
    let mut out = stdout();
    if entries.is_empty() && !json {
        writeln!(out, "no saved sessions of {}", at.scope)?;
    }
    for entry in entries {
        if json {
            writeln!(out, "{}", serde_json::to_string(&entry)?)?;
        } else {
            let begun = entry.session.started.map_or_else(String::new, date);
            let title = revealed_name(entry.session.title.as_deref().unwrap_or_default());
            let line =
                format!("{:<32} {begun}  {:>6} lines  {title}", entry.session.id, entry.lines);
            writeln!(out, "{}", line.trim_end())?;
        }
    }
    Ok(DONE)
}

async fn find(at: Scoped<'_>, id: &str) -> Result<SessionEntry, Failure> {
    let filter = SessionFilter { id: Some(id.to_owned()), ..SessionFilter::default() };
    at.store.sessions(at.scope, filter).await?.pop().ok_or_else(|| {
        Failure::Failed(anyhow::anyhow!(
            "{} has no session '{id}' (glyphoxa session list)",
            at.scope
        ))
    })
}

async fn lines(
    at: Scoped<'_>,
    id: &str,
    pick: Pick,
    last: usize,
) -> Result<Vec<TranscriptLine>, Failure> {
    find(at, id).await?;
    let filter = LineFilter {
        session: Some(id.to_owned()),
        pick,
        gaps: true,
        limit: last,
        ..LineFilter::default()
    };
    Ok(at.store.lines(at.scope, filter, Viewer::Dm).await?)
}

/// Reads "3-7", or "5" for one line.
fn range(text: &str) -> Result<Pick, String> {
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    match (from.trim().parse(), to.trim().parse()) {
        (Ok(from), Ok(to)) if from <= to => Ok(Pick::Range { from, to }),
        _ => Err(format!("invalid range of lines '{text}' (write it like 12-40)")),
    }
}

/// Prints lines for people or for programs.
fn print(lines: &[TranscriptLine], json: bool, out: &mut impl Write) -> anyhow::Result<()> {
    for line in lines {
        if json {
            writeln!(out, "{}", serde_json::to_string(line)?)?;
        } else {
            writeln!(out, "{} {}", time(line.said.at), said(line))?;
        }
    }
    Ok(())
}

pub fn said(line: &TranscriptLine) -> String {
    if line.withdrawn {
        // A withdrawn line keeps its speaker.
        let is_deleted = line.said.speaker.is_empty();
        return if is_deleted { "(deleted)" } else { "(taken back)" }.to_owned();
    }
    let speaker = revealed_name(&line.said.speaker);
    let who = match &line.said.character {
        None => speaker,
        Some(character) => format!("{} ({speaker})", revealed_name(character)),
    };
    format!("{who}: {}", revealed_name(&line.said.text.replace('\n', " ")))
}

async fn export(at: Scoped<'_>, id: &str, out: Option<PathBuf>, json: bool) -> Result<u8, Failure> {
    let entry = find(at, id).await?;
    let lines = lines(at, id, Pick::All, 0).await?;
    let mut text = Shown(Vec::new());
    if json {
        print(&lines, true, &mut text)?;
    } else {
        let session = &entry.session;
        let title = session.title.as_deref().unwrap_or(&session.id);
        writeln!(text, "# {}\n", revealed_name(title))?;
        writeln!(
            text,
            "{}, campaign {}\n",
            session.started.map_or_else(String::new, date),
            at.campaign().0
        )?;
        if let Some(summary) = &session.summary {
            writeln!(text, "{summary}\n")?;
        }
        for line in &lines {
            writeln!(text, "- {} {}", time(line.said.at), said(line))?;
        }
    }
    match out {
        None => stdout().write_all(&text.0)?,
        Some(path) => files::replace_private(&path, &text.0)
            .with_context(|| format!("cannot write '{}'", path.display()))?,
    }
    Ok(DONE)
}

struct RecapOptions<'a> {
    id: &'a str,
    /// Reader of the recap; decides which secrets are left out.
    viewer: Viewer,
    /// From the lines only, without a model.
    extract: bool,
    /// Print one JSON object.
    json: bool,
}

async fn recap(config: &Config, at: Scoped<'_>, options: RecapOptions<'_>) -> Result<u8, Failure> {
    let RecapOptions { id, viewer, extract, json } = options;
    find(at, id).await?;
    let all = KeptStore::new(at.store, &config.data_dir);
    let mut kept = kept(&all, at, id).await?;
    let accounts = app::accounts(config, None).await?;
    let account = AccountFor::Kept { session: id.to_owned(), before: kept.spent() };
    let budget = accounts.open(at.scope, account, &config.budget).await?;
    let writer = match extract {
        true => None,
        false => Writer::new(&app::assistant(&Registry::default(), config), budget.clone())?,
    };
    let recap = campaign::recap(at, id, viewer, writer.as_ref()).await;
    // Paid money is spent, whatever the outcome; a program playing the session records it.
    if budget.spent() > kept.spent() {
        match all.hold(&mut kept, at.scope).await {
            Err(KeptError::Busy(_)) => {}
            hold => {
                let _hold = hold?;
                all.save_spent(kept, budget.spent()).await?;
            }
        }
    }
    accounts.close().await;
    let Some(recap) = recap? else { return Ok(DONE) };
    let mut out = stdout();
    if json {
        writeln!(out, "{}", serde_json::to_string(&recap)?)?;
    } else {
        write!(out, "{}", recap.text())?;
        if recap.proposed > 0 {
            let facts = recap.proposed;
            complain(&format!("{facts} facts wait for your approval (glyphoxa memory facts)"));
        }
    }
    Ok(DONE)
}

async fn kept(all: &KeptStore<'_>, at: Scoped<'_>, id: &str) -> Result<KeptSession, Failure> {
    all.open(id, at.scope).await.map_err(|error| match error {
        KeptError::Name(_) => Failure::Usage(error.to_string()),
        other => other.into(),
    })
}

async fn delete(config: &Config, at: Scoped<'_>, id: &str, json: bool) -> Result<u8, Failure> {
    let all = KeptStore::new(at.store, &config.data_dir);
    let mut kept = kept(&all, at, id).await?;
    let _hold = all.hold(&mut kept, at.scope).await?;
    // Its lock is on that machine, and it would store what it has again.
    if campaign::played_by_node(at.store, at.scope.owner).await?.as_deref() == Some(id) {
        return Err(KeptError::Busy(id.to_owned()).into());
    }
    let gone = at.store.forget(at.scope, Forget::Session(id.to_owned())).await?;
    let had_files = all.delete(kept).await?;
    at.store.purge_removed().await?;
    if gone.sessions == 0 && !had_files {
        find(at, id).await?;
    }
    if json {
        writeln!(stdout(), "{}", serde_json::to_string(&gone)?)?;
    } else {
        complain(&format!("deleted '{id}': {}", counted(gone.lines, "line")));
    }
    Ok(DONE)
}
