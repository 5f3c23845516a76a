//! `glyphoxa export`: a campaign as a folder of plain files, which `glyphoxa import` takes back.
//!
//! Entry function: [`run`].

mod arguments;
mod evenings;
mod folder;

use std::{collections::BTreeSet, io::Write, path::Path, sync::Arc};

use serde_json::json;

pub use self::arguments::Arguments;
use self::{
    evenings::{for_dm, for_players, text},
    folder::{NewFile, check_free, write},
};
use super::{DONE, Failure, block_on, complain, counted, stdout};
use crate::{
    app,
    campaign::{self, CarriedSettings, Folder, GuildStore, MANIFEST, Manifest, Scoped, key_of},
    config::Config,
    domain::{Npc, Scope, revealed_name},
    export::{FileNames, card},
    files,
    memory::MemoryStore,
};

/// Longest NPC file and campaign file, in bytes.
const YAML_MAX: u64 = 10 * 1024 * 1024;
/// Explains the folder to the person who finds it.
const README: &str = "README.md";

/// Exports the campaign of the arguments.
pub fn run(config: &Config, arguments: &Arguments) -> Result<u8, Failure> {
    check_free(&arguments.folder)?;
    let scope = arguments.scope(config);
    block_on(async {
        let store = app::open_memory(config).await?;
        let (folder, content) = content(config, arguments, &scope, &store).await?;
        write(&arguments.folder, &content)?;
        report(arguments, &scope, &folder, content.len())?;
        let tokens = store.tokens(Some(scope.owner)).await?.len();
        if tokens > 0 {
            let tokens = counted(tokens, "access token");
            complain(&format!(
                "note: {tokens} left out (make new ones where you import it: glyphoxa token create)"
            ));
        }
        Ok(DONE)
    })
}

/// Everything of the scope, and the files that hold it; the manifest is the last one.
async fn content(
    config: &Config,
    arguments: &Arguments,
    scope: &Scope,
    store: &Arc<dyn MemoryStore>,
) -> Result<(Folder, Vec<NewFile>), Failure> {
    let at = Scoped::new(&**store, scope);
    let held = campaign::held(at).await?;
    if held == campaign::ScopeContent::default() && *scope != app::local_scope(config) {
        let text = format!("nothing is stored of {scope} (glyphoxa memory stats lists all)");
        return Err(Failure::Failed(anyhow::anyhow!(text)));
    }
    let calls = campaign::calls_of_sessions(at, &config.data_dir, &held.sessions).await?;
    let folder = Folder { held, calls };
    let settings = settings(config, scope, store).await?;
    let texts = campaign::texts(&folder)?;
    let campaign = scope.campaign.0.as_str();
    let mut files = vec![(README.to_owned(), text(&readme(scope)))];
    files.extend(texts.iter().map(|(name, all)| ((*name).to_owned(), text(all))));
    files.extend(for_dm(&folder.held, campaign));
    files.extend(configured(config, scope));
    if arguments.cards {
        files.extend(cards(&config.npcs));
    }
    let opted_out = settings.as_ref().map(|it| &it.opted_out).into_iter().flatten();
    let opted_out: BTreeSet<String> = opted_out.map(u64::to_string).collect();
    files.extend(for_players(&folder.held, campaign, &arguments.transcripts, &opted_out));
    if let Some(settings) = settings {
        let all = serde_json::to_string_pretty(&settings)? + "\n";
        files.push((campaign::SETTINGS.to_owned(), text(&all)));
    }
    let manifest = Manifest::of(scope.clone(), &texts).text()?;
    files.push((MANIFEST.to_owned(), text(&manifest)));
    Ok((folder, files))
}

/// Settings of the server that go with its campaign; `None`: the sessions of this machine have none.
async fn settings(
    config: &Config,
    scope: &Scope,
    store: &Arc<dyn MemoryStore>,
) -> Result<Option<CarriedSettings>, Failure> {
    let Some(guild) = scope.owner.guild() else { return Ok(None) };
    let guilds = GuildStore::new(Arc::clone(store), &config.discord.folder);
    Ok(Some(CarriedSettings::of(&guilds.read(guild).await?)))
}

/// The campaign file, if it is of this campaign, and the NPC files, as they are.
fn configured(config: &Config, scope: &Scope) -> Vec<NewFile> {
    let mut found = Vec::new();
    let is_own = key_of(&config.campaign.name) == scope.campaign;
    for path in config.campaign_file.iter().filter(|_| is_own) {
        found.extend(copied(path, "campaign.yaml".to_owned()));
    }
    for path in config.files.iter().filter(|path| path.parent() == Some(&*config.npc_dir)) {
        let name = path.file_name().and_then(|it| it.to_str());
        found.extend(name.and_then(|name| copied(path, format!("npcs/{name}"))));
    }
    found
}

/// A file as it is; `None` for one that came with the program.
fn copied(path: &Path, name: String) -> Option<NewFile> {
    match files::read(path, YAML_MAX) {
        Ok(bytes) => Some((name, bytes)),
        Err(error) => {
            if error.kind() != std::io::ErrorKind::NotFound {
                complain(&format!("note: '{}' is left out: {error}", path.display()));
            }
            None
        }
    }
}

fn cards(npcs: &[Npc]) -> Vec<NewFile> {
    let mut names = FileNames::default();
    let file = |npc: &Npc| {
        let name = format!("cards/{}.json", names.take(&npc.name));
        (name, text(&format!("{:#}\n", card(npc))))
    };
    npcs.iter().map(file).collect()
}

fn readme(scope: &Scope) -> String {
    format!(
        "# Export of {}\n\n\
         For the game master: it holds secrets, and what people said. Give away only the parts\n\
         `transcripts` and `cards`, if they are here.\n\n\
         - `sessions`: transcripts with everything\n\
         - `npcs`, `campaign.yaml`: the files of the NPCs and of the campaign, as they were\n\
         - `store`, `calls.jsonl`, `settings.json`: what `glyphoxa import` of this folder takes back\n\n\
         Access tokens of programs outside (`glyphoxa token`) are not here.\n",
        revealed_name(&scope.to_string())
    )
}

fn report(
    arguments: &Arguments,
    scope: &Scope,
    folder: &Folder,
    files: usize,
) -> Result<(), Failure> {
    let (name, held) = (arguments.folder.display().to_string(), &folder.held);
    let (sessions, lines) = (held.sessions.len(), held.lines.len());
    let (entities, facts) = (held.entities.len(), held.items.len());
    let mut out = stdout();
    if arguments.json {
        let report = json!({
            "ok": true, "folder": name, "scope": scope, "sessions": sessions, "lines": lines,
            "entities": entities, "relations": held.relations.len(), "facts": facts,
            "files": files,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let counts = [counted(sessions, "session"), counted(lines, "line"), counted(facts, "fact")];
    writeln!(
        out,
        "{}: {} and {entities} entities in {} in '{}'",
        revealed_name(&scope.campaign.0),
        counts.join(", "),
        counted(files, "file"),
        revealed_name(&name)
    )?;
    complain("note: the folder holds your secrets; only 'transcripts' and 'cards' are for players");
    Ok(())
}
