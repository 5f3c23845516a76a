//! `glyphoxa import`: campaign files and files of other programs into a campaign, all or nothing.
//!
//! Entry function: [`run`].

mod arguments;
mod gather;
mod npc_files;
mod others;
mod returned;

use std::{
    io::{self, BufRead, IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use serde_json::json;

pub use self::arguments::Arguments;
use self::gather::{Gathered, gather};
use super::{DONE, FAILED, Failure, block_on, complain, stdout, trust::Configured};
use crate::{
    app,
    campaign::{self, IMPORT, ImportError, Plan, Scoped, key_of},
    config::{Problem, Use},
    domain::{Npc, revealed_name},
    import::{
        Given,
        campaign::{World, campaign_file},
        is_ours,
    },
    memory::CampaignKey,
    yaml::Position,
};

/// Longest answer, in bytes.
const ANSWER_MAX: u64 = 1_000;

/// Imports the files of the arguments.
pub fn run(configured: Configured<'_>, arguments: &Arguments) -> Result<u8, Failure> {
    let config = &configured.load_for(Use::Remember)?;
    if let Some(folder) = returned::export_among(&arguments.files) {
        return returned::run(configured.path, config, arguments, folder);
    }
    let scope = arguments.scope(config);
    let Gathered { files, mut problems, skipped, .. } = gather(&arguments.files);
    if skipped > 0 {
        complain(&format!("note: {skipped} links, devices and hidden folders are left out"));
    }
    let (ours, others): (Vec<Given>, Vec<Given>) = files.into_iter().partition(is_ours);
    problems.extend(mixed(&ours, &others));
    if !others.is_empty() && problems.is_empty() {
        return others::run(config, arguments, &scope, others);
    }
    let given = ours.len() + problems.len();
    let (worlds, found) = read(ours, &config.npcs);
    problems.extend(found);
    block_on(async {
        let store = app::open_memory(config).await?;
        let at = Scoped::new(&*store, &scope);
        // With an invalid file, its entities would be unknown to the others.
        if worlds.len() == given {
            match campaign::plan(at, &worlds, IMPORT).await {
                Ok(mut plan) if problems.is_empty() => {
                    match is_meant(arguments, at.campaign(), &worlds)? {
                        Meant::Yes => {}
                        Meant::No => {
                            complain("nothing was imported");
                            return Ok(FAILED);
                        }
                        Meant::Unsaid(problem) => {
                            refuse(vec![problem], arguments.json)?;
                            return Ok(FAILED);
                        }
                    }
                    if !arguments.dry_run {
                        plan.carry_out(at).await?;
                    }
                    report(arguments, at.campaign(), &worlds, &plan)?;
                    return Ok(DONE);
                }
                Ok(_) => {}
                Err(ImportError::Problems(found)) => problems.extend(found),
                Err(ImportError::Store(error)) => return Err(error.into()),
            }
        }
        refuse(problems, arguments.json)?;
        Ok(FAILED)
    })
}

/// A problem if campaign files and others are imported together, which would not be all or nothing.
fn mixed(ours: &[Given], others: &[Given]) -> Option<Problem> {
    let (own, other) = (ours.first()?, others.first()?);
    Some(Problem {
        file: revealed_name(&other.file).into(),
        at: Position::START,
        message: format!("'{}' is a campaign file, this is none", revealed_name(&own.file)),
        way_out: "import campaign files by themselves".to_owned(),
    })
}

/// True if files of another campaign are for this one, by an option or a question at a terminal.
fn is_meant(
    arguments: &Arguments,
    CampaignKey(campaign): &CampaignKey,
    worlds: &[World],
) -> Result<Meant, Failure> {
    if arguments.campaign.is_some() || arguments.dry_run {
        return Ok(Meant::Yes);
    }
    let can_ask = !arguments.json && io::stdin().is_terminal();
    for world in worlds.iter().filter(|world| is_of_another(world, campaign)) {
        let (file, name) = (revealed_name(&world.file), revealed_name(&world.name));
        let campaign = revealed_name(campaign);
        if !can_ask {
            return Ok(Meant::Unsaid(Problem {
                file: file.into(),
                at: Position::START,
                message: format!("the file belongs to '{name}', but '{campaign}' is configured"),
                way_out: format!(
                    "use --campaign '{name}' to import it into its own campaign, --campaign \
                     '{campaign}' for the configured one"
                ),
            }));
        }
        complain(&format!(
            "{file} belongs to '{name}', but '{campaign}' is configured: import it there? (y or n; \
             --campaign '{name}' imports it into its own campaign)"
        ));
        let mut answer = String::new();
        io::stdin().lock().take(ANSWER_MAX).read_line(&mut answer)?;
        if !matches!(answer.trim().to_lowercase().as_str(), "y" | "yes" | "j" | "ja") {
            return Ok(Meant::No);
        }
    }
    Ok(Meant::Yes)
}

enum Meant {
    Yes,
    /// The user at the terminal has declined.
    No,
    /// No terminal, and no option given.
    Unsaid(Problem),
}

/// True if a file names another campaign than its target.
fn is_of_another(world: &World, campaign: &str) -> bool {
    !world.name.is_empty() && key_of(&world.name).0 != campaign
}

fn read(files: Vec<Given>, cast: &[Npc]) -> (Vec<World>, Vec<Problem>) {
    let (mut worlds, mut problems) = (Vec::new(), Vec::new());
    for Given { file, bytes, .. } in files {
        let (world, found) = campaign_file(&file, bytes, cast);
        worlds.extend(world);
        problems.extend(found);
    }
    (worlds, problems)
}

/// Reports the problems; nothing was written.
fn refuse(mut problems: Vec<Problem>, json: bool) -> Result<(), Failure> {
    problems.sort();
    problems.dedup();
    if json {
        let report = json!({ "ok": false, "problems": problems });
        writeln!(stdout(), "{report}")?;
        return Ok(());
    }
    for problem in &problems {
        complain(&problem.to_string());
    }
    complain("nothing was imported");
    Ok(())
}

/// Reports changes made or planned.
fn report(
    arguments: &Arguments,
    CampaignKey(campaign): &CampaignKey,
    worlds: &[World],
    plan: &Plan,
) -> Result<(), Failure> {
    let Plan { entities, relations, added, changed, removed, .. } = plan;
    let notes = notes(worlds, campaign, arguments.campaign.is_some());
    let mut out = stdout();
    if arguments.json {
        let report = json!({
            "ok": true, "campaign": campaign, "entities": entities, "relations": relations,
            "added": added, "changed": changed, "removed": removed,
            "dry_run": arguments.dry_run, "notes": notes,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    for note in notes {
        complain(&format!("note: {note}"));
    }
    let would = if arguments.dry_run { "would be " } else { "" };
    writeln!(
        out,
        "{campaign}: {entities} entities and {relations} relations in {}: {would}{added} added, \
         {changed} changed, {removed} removed",
        files(&arguments.files)
    )?;
    Ok(())
}

fn files(paths: &[PathBuf]) -> String {
    match paths {
        [one] => file_name(one),
        several => format!("{} files", several.len()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Notes on unused parts of the files, and on probable mistakes.
fn notes(worlds: &[World], campaign: &str, is_chosen: bool) -> Vec<String> {
    let mut notes = Vec::new();
    for world in worlds {
        if !world.unused.is_empty() {
            notes.push(format!(
                "{}: {} not imported (Glyphoxa reads them from the campaign file that \
                 glyphoxa.yaml names)",
                world.file,
                world.unused.join(" and ")
            ));
        }
        if !is_chosen && is_of_another(world, campaign) {
            notes.push(format!(
                "{} belongs to '{}', but its entities go to the configured campaign '{}' (to \
                 choose: --campaign '{}')",
                world.file,
                revealed_name(&world.name),
                revealed_name(campaign),
                revealed_name(&world.name)
            ));
        }
    }
    notes
}
