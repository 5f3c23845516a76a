//! A folder of `glyphoxa export`, back into a store.
//!
//! Entry functions: [`export_among`], [`run`]. Everything is checked before anything is written; an NPC file
//! that the configuration would refuse stops all of it.

use std::{
    collections::BTreeMap,
    fs,
    io::{ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::json;

use super::super::{DONE, FAILED, Failure, block_on, complain, stdout};
use super::{
    arguments::Arguments,
    npc_files::{NpcFiles, npc_files},
    others::refuse,
};
use crate::{
    app,
    campaign::{
        self, CarriedSettings, EXPORT_FILES, Folder, GuildStore, MANIFEST, Manifest, NewFiles,
        ReturnError, SETTINGS, Scoped, Tally,
    },
    config::{self, Config},
    domain::{Scope, revealed_name},
    files,
    import::Mistake,
    memory::MemoryStore,
    tools::builtin,
};

/// Longest file of an export, in bytes; the transcript of years is smaller.
const FILE_MAX: u64 = 500_000_000;
/// Longest manifest and longest settings, in bytes.
const SMALL_MAX: u64 = 10_000_000;

/// An export that was read.
struct Export {
    scope: Scope,
    content: Folder,
    settings: Option<CarriedSettings>,
    npcs: NpcFiles,
}

/// Numbers of what was added, or would be.
#[derive(Default)]
struct Added {
    tally: Tally,
    npcs: usize,
    calls: usize,
    /// Tool calls that stay behind.
    calls_left_out: usize,
    has_settings: bool,
}

/// The folder among `paths` that is an export.
pub fn export_among(paths: &[PathBuf]) -> Option<&Path> {
    paths.iter().find(|path| path.join(MANIFEST).is_file()).map(PathBuf::as_path)
}

/// Imports the export in `folder`; `path` is the configuration's, if it is named.
pub fn run(
    path: Option<&Path>,
    config: &Config,
    arguments: &Arguments,
    folder: &Path,
) -> Result<u8, Failure> {
    let export = match alone(arguments, folder).and_then(|()| read(folder)) {
        Ok((manifest, content, settings)) => Export {
            scope: arguments.scope_of(manifest.scope),
            content,
            settings,
            npcs: npc_files(folder, &config.npc_dir),
        },
        Err(mistakes) => {
            refuse(&mistakes, arguments.json)?;
            return Ok(FAILED);
        }
    };
    block_on(bring(path, config, arguments, export))
}

fn alone(arguments: &Arguments, folder: &Path) -> Result<(), Vec<Mistake>> {
    if arguments.files.len() == 1 {
        return Ok(());
    }
    let file = folder.display().to_string();
    let message = "this folder is an export of Glyphoxa, and other files are named with it";
    Err(vec![mistake(&file, message, "import it by itself")])
}

type Read = (Manifest, Folder, Option<CarriedSettings>);

fn read(folder: &Path) -> Result<Read, Vec<Mistake>> {
    let part = |name: &str, most: u64| {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Ok(about) if !about.is_file() => {
                Err(vec![mistake(name, "this is no file", "export again")])
            }
            _ => files::read(&path, most)
                .map(Some)
                .map_err(|error| vec![mistake(name, &error.to_string(), "export again")]),
        }
    };
    let manifest = part(MANIFEST, SMALL_MAX)?.unwrap_or_default();
    let manifest = Manifest::read(&manifest).map_err(|mistake| vec![mistake])?;
    let mut texts = BTreeMap::new();
    for name in EXPORT_FILES {
        texts.insert(name, part(name, FILE_MAX)?.unwrap_or_default());
    }
    let content = campaign::read_texts(&manifest, &texts)?;
    let settings = part(SETTINGS, SMALL_MAX)?.map(|bytes| serde_json::from_slice(&bytes));
    let settings = settings.transpose().map_err(|error| {
        vec![mistake(SETTINGS, &format!("invalid settings: {error}"), "export again")]
    })?;
    Ok((manifest, content, settings))
}

/// Plans the import, does it unless it is only to be shown, and says what it was.
async fn bring(
    path: Option<&Path>,
    config: &Config,
    arguments: &Arguments,
    mut export: Export,
) -> Result<u8, Failure> {
    let store = app::open_memory(config).await?;
    let at = Scoped::new(&*store, &export.scope);
    let held = std::mem::take(&mut export.content.held);
    let plan = match campaign::plan_return(at, held).await {
        Ok(plan) => plan,
        Err(ReturnError::Faults(faults)) => {
            let of_store = |fault: &String| mistake("store", fault, "");
            refuse(&faults.iter().map(of_store).collect::<Vec<_>>(), arguments.json)?;
            return Ok(FAILED);
        }
        Err(ReturnError::Store(error)) => return Err(error.into()),
    };
    let npcs = export.npcs.new.len();
    let calls = &export.content.calls;
    let calls_left_out = campaign::calls_left_out(&config.data_dir, &export.scope, calls)?;
    let mut added = Added { tally: plan.tally, npcs, calls_left_out, ..Added::default() };
    if !arguments.dry_run {
        let written = NewFiles::write(export.npcs.new.clone())?;
        let mistakes = if npcs > 0 { refused_files(path) } else { Vec::new() };
        if !mistakes.is_empty() {
            written.take_back();
            refuse(&mistakes, arguments.json)?;
            return Ok(FAILED);
        }
        if let Err(error) = plan.carry_out(at).await {
            written.take_back();
            return Err(error.into());
        }
        added.has_settings = carry(config, &export, &store).await?;
        added.calls = campaign::write_calls(&config.data_dir, &export.scope, calls)?;
    }
    report(arguments, &export, &added)?;
    Ok(DONE)
}

/// Faults of the added NPC files by the rules of the configuration.
fn refused_files(path: Option<&Path>) -> Vec<Mistake> {
    let Err(report) = config::load(path, &config::environment, builtin::IDENTITIES) else {
        return Vec::new();
    };
    let way_out = "correct it in the export's folder npcs, or remove the file there";
    let faults = report.problems.iter().map(|it| mistake("npcs", &it.to_string(), way_out));
    faults.collect()
}

/// Adds the settings of the server; true if it lacked any.
async fn carry(
    config: &Config,
    export: &Export,
    store: &Arc<dyn MemoryStore>,
) -> Result<bool, Failure> {
    let (Some(guild), Some(carried)) = (export.scope.owner.guild(), &export.settings) else {
        return Ok(false);
    };
    let guilds = GuildStore::new(Arc::clone(store), &config.discord.folder);
    let own = guilds.clone().read(guild).await?;
    let Some(all) = carried.added_to(&own) else { return Ok(false) };
    guilds.keep(guild, all).await?;
    Ok(true)
}

fn report(arguments: &Arguments, export: &Export, added: &Added) -> Result<(), Failure> {
    let Added { tally, npcs, calls, calls_left_out, has_settings } = added;
    let mut out = stdout();
    if arguments.json {
        let report = json!({
            "ok": true, "scope": export.scope, "dry_run": arguments.dry_run, "added": tally,
            "npcs": npcs, "calls": calls, "calls_left_out": calls_left_out,
            "settings": has_settings, "notes": export.npcs.notes,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    for note in &export.npcs.notes {
        complain(&format!("note: {note}"));
    }
    if *calls_left_out > 0 {
        complain(&format!(
            "note: {calls_left_out} tool calls are left out (their sessions belong to this machine, \
             or to another server or campaign here; an import without --guild keeps them)"
        ));
    }
    let Tally { sessions, lines, items, entities, relations, runs, schedules, kept } = tally;
    let would = if arguments.dry_run { "would be " } else { "" };
    writeln!(
        out,
        "{}: {would}{sessions} sessions, {lines} lines, {items} facts, {entities} entities, \
         {relations} relations, {schedules} schedules, {runs} runs of workflows and {npcs} npcs \
         added; {kept} differ and stay",
        revealed_name(&export.scope.campaign.0)
    )?;
    Ok(())
}

fn mistake(file: &str, message: &str, way_out: &str) -> Mistake {
    Mistake {
        file: file.to_owned(),
        place: String::new(),
        message: message.to_owned(),
        way_out: way_out.to_owned(),
    }
}
