//! Files of other programs: what comes of them, shown and done.
//!
//! Entry function: [`run`].

use std::io::Write;

use serde_json::json;

use super::super::{DONE, FAILED, Failure, block_on, complain, stdout};
use super::arguments::Arguments;
use crate::{
    app,
    campaign::{BringingCast, Scoped, plan_drafts},
    config::Config,
    domain::{Scope, revealed_name},
    import::{Drafts, Given, Mistake, read},
};

/// Imports `files`, which are no campaign files of ours, into the campaign of `scope`.
pub fn run(
    config: &Config,
    arguments: &Arguments,
    scope: &Scope,
    files: Vec<Given>,
) -> Result<u8, Failure> {
    let drafts = read(files);
    if !drafts.mistakes.is_empty() {
        refuse(&drafts.mistakes, arguments.json)?;
        return Ok(FAILED);
    }
    block_on(bring(config, arguments, scope, drafts))
}

/// Plans the import, does it unless it is only to be shown, and says what it was.
async fn bring(
    config: &Config,
    arguments: &Arguments,
    scope: &Scope,
    drafts: Drafts,
) -> Result<u8, Failure> {
    let store = app::open_memory(config).await?;
    let at = Scoped::new(&*store, scope);
    let cast = BringingCast {
        folder: config.npc_dir.clone(),
        npcs: config.npcs.iter().chain([&config.assistant]).cloned().collect(),
        voices: app::voice_offers(config),
        voice: None,
        language: config.assistant.language.clone(),
        knows_secrets: arguments.secrets.is_of_npc(),
    };
    let mut bringing = plan_drafts(at, drafts, cast).await?;
    if !arguments.dry_run {
        bringing.carry_out(at).await?;
    }
    let preview = &bringing.preview;
    let campaign = &scope.campaign.0;
    let mut out = stdout();
    if arguments.json {
        let report = json!({
            "ok": true, "campaign": campaign, "dry_run": arguments.dry_run, "added": preview.added,
            "changed": preview.changed, "unchanged": preview.unchanged, "kept": preview.kept,
            "for_dm": preview.for_dm, "left_out": preview.left_out,
            "relations": preview.relations,
        });
        writeln!(out, "{report}")?;
        return Ok(DONE);
    }
    for line in preview.lines() {
        writeln!(out, "{}", revealed_name(&line))?;
    }
    let would = if arguments.dry_run { "would be " } else { "" };
    writeln!(out, "{}: {would}{}", revealed_name(campaign), preview.summary())?;
    Ok(DONE)
}

/// Reports the mistakes; nothing was written.
pub fn refuse(mistakes: &[Mistake], json: bool) -> Result<(), Failure> {
    if json {
        let problem = |it: &Mistake| {
            json!({
                "file": it.file, "place": it.place, "message": it.message, "way_out": it.way_out,
            })
        };
        let problems: Vec<_> = mistakes.iter().map(problem).collect();
        writeln!(stdout(), "{}", json!({ "ok": false, "problems": problems }))?;
        return Ok(());
    }
    for mistake in mistakes {
        complain(&revealed_name(&mistake.to_string()));
    }
    complain("nothing was imported");
    Ok(())
}
