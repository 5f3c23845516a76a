//! `glyphoxa memory forget`: lists or deletes what is stored about a person. Entry function:
//! [`run`].
//! **Never**: deletes while another program plays a session of the owner.

use std::io::Write;

use super::{DONE, Failure, counted, session::said, stdout};
use crate::{
    campaign::{self, Deletion, DirectDeletion, ForgetFrom, KeptFiles, KeptOf, Scoped, StoredOf},
    config::Config,
    domain::{Owner, Person, PersonId, revealed_name},
    yaml::nearest,
};

struct StoredPerson {
    person: Person,
    from: ForgetFrom,
    stored: StoredOf,
    kept: KeptFiles,
    /// True if lines wait to be stored, which may be theirs.
    waits: bool,
    /// True if an earlier deletion is unfinished.
    is_begun: bool,
}

/// Lists or deletes the data of this person.
pub async fn run(config: &Config, at: Scoped<'_>, player: &str, yes: bool) -> Result<u8, Failure> {
    let from = ForgetFrom { owner: at.scope.owner, session: None };
    if yes {
        refuse_while_played(config, at, player, &from).await?;
    }
    let is_this = |it: &Deletion| it.player == player && it.from == from;
    let begun = at.store.deletions().await?.into_iter().find(is_this);
    let is_begun = begun.is_some();
    // The lines with the names may be deleted already.
    let known = begun.map(|begun| begun.names).unwrap_or_default();
    let names = campaign::names(at.store, player, &known, &from).await?;
    let person = Person { id: PersonId(player.to_owned()), names: names.own };
    let stored = campaign::stored_of(at.store, player, &from).await?;
    let kept = campaign::kept_of(at.store, &config.data_dir, &person, &from).await;
    let waits = campaign::lines_wait(&config.memory.transcripts.spill);
    let known = StoredPerson { person, from, stored, kept, waits, is_begun };
    if known.stored.is_empty() && known.kept.of.is_empty() && !waits && !is_begun {
        return Err(match known.kept.unread {
            Some(error) => error.into(),
            None => unknown(player, &known.stored),
        });
    }
    tell_of_shared(config, at, &names.shared, &known.from).await?;
    if yes { delete(config, at, known).await } else { list(player, &known) }
}

/// Refuses while another program plays a session of `from`: it would store the words again.
async fn refuse_while_played(
    config: &Config,
    at: Scoped<'_>,
    player: &str,
    from: &ForgetFrom,
) -> Result<(), Failure> {
    let id = match campaign::played_elsewhere(&config.data_dir, from, None)? {
        Some(id) => Some(id),
        None => campaign::played_by_node(at.store, from.owner).await?,
    };
    let Some(id) = id else { return Ok(()) };
    let or_there = match from.owner {
        Owner::Local => "",
        Owner::Guild(_) => ", or use /privacy purge on Discord",
    };
    Err(Failure::Failed(anyhow::anyhow!(
        "session '{id}' is open in another program, which would store the lines of '{player}' \
         again: nothing is deleted (end it there{or_there})"
    )))
}

/// Lists records of earlier versions that stay because another person has used the name too.
async fn tell_of_shared(
    config: &Config,
    at: Scoped<'_>,
    names: &[String],
    from: &ForgetFrom,
) -> Result<(), Failure> {
    for name in names {
        // An empty identity matches only records without one.
        let anybody = Person { id: PersonId(String::new()), names: vec![name.clone()] };
        let kept = campaign::kept_of(at.store, &config.data_dir, &anybody, from).await;
        // Unfinished files are deleted in any case.
        if kept.of.iter().any(|kept| kept.messages + kept.calls > 0) {
            let name = revealed_name(name);
            writeln!(
                stdout(),
                "records from earlier versions under '{name}' stay (another person uses that name \
                 too)"
            )?;
        }
    }
    Ok(())
}

/// Reports that nothing is stored about `player`; suggests a similar name.
fn unknown(player: &str, stored: &StoredOf) -> Failure {
    let names = stored.people.keys().map(String::as_str);
    let way_out = match nearest(player, names).and_then(|name| stored.people.get_key_value(name)) {
        Some((name, id)) if name == id => format!("did you mean '{}'?", revealed_name(name)),
        Some((name, id)) => {
            format!("did you mean {}, who is {}?", revealed_name(id), revealed_name(name))
        }
        None if stored.people.is_empty() => "no player's lines are stored here".to_owned(),
        None => "give a Discord user id, or the name used in `ask`".to_owned(),
    };
    Failure::Failed(anyhow::anyhow!("nothing is stored about '{player}' ({way_out})"))
}

fn list(
    player: &str,
    StoredPerson { stored, kept, waits, is_begun, .. }: &StoredPerson,
) -> Result<u8, Failure> {
    let mut out = stdout();
    for line in &stored.lines {
        writeln!(out, "{} #{} {}", line.said.session, line.seq, said(line))?;
    }
    for KeptOf { session, messages, calls, parts } in &kept.of {
        let (messages, calls) = (counted(*messages, "message"), counted(*calls, "tool call"));
        let parts = match parts {
            0 => String::new(),
            parts => format!(", {}", counted(*parts, "unfinished file")),
        };
        writeln!(out, "NPCs' memory of '{session}': {messages}, {calls}{parts}")?;
    }
    if let Some(error) = &kept.unread {
        writeln!(out, "a session file that cannot be read may hold more: {error}")?;
    }
    if stored.present > 0 {
        writeln!(out, "listed as present: at {}", counted(stored.present, "line"))?;
    }
    if stored.planned > 0 {
        writeln!(out, "schedules and runs of workflows with their id: {}", stored.planned)?;
    }
    if *waits {
        writeln!(out, "lines that wait in a file of data_dir may be theirs too")?;
    }
    if *is_begun {
        writeln!(out, "an earlier deletion is not done yet (--yes does the rest)")?;
    }
    writeln!(out, "nothing is deleted yet (add --yes to delete what is stored about '{player}')")?;
    Ok(DONE)
}

/// Deletes the data. Files that fail are left to the next start of the bot.
async fn delete(config: &Config, at: Scoped<'_>, known: StoredPerson) -> Result<u8, Failure> {
    let StoredPerson { person, from, stored, waits, is_begun, .. } = known;
    let player = person.id.0.clone();
    // The command's output answers; no one else is notified.
    let asker = String::new();
    let deletion = Deletion { asker, ..Deletion::of(player.clone(), from, campaign::now()) };
    let (store, data_dir) = (at.store, config.data_dir.clone());
    let mut deletion = DirectDeletion { store, data_dir, playing: None, person, deletion };
    let (lines, kept) = deletion.erase().await?;
    let answers = stored.lines.iter().filter(|line| line.said.asked.is_some()).count();
    if lines > 0 || !is_begun {
        let (lines, answers) = (counted(lines, "line"), counted(answers, "answer"));
        writeln!(stdout(), "deleted {lines} of '{player}' and {answers} to them")?;
    }
    kept?;
    deletion.end(waits).await?;
    if waits {
        writeln!(
            stdout(),
            "lines wait in a file of data_dir: when 'glyphoxa run' starts again, it deletes those of \
             '{player}' among them"
        )?;
    } else if is_begun {
        writeln!(stdout(), "an earlier deletion of what '{player}' said is done now")?;
    }
    Ok(DONE)
}
