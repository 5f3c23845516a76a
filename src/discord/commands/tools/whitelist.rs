//! `/tools allow|deny`: an NPC's whitelist on this server.

use crate::{
    discord::{
        commands::{
            answer::{Answer, Refusal},
            command::Call,
        },
        guild::Guild,
        ui::reply::Reply,
    },
    logic::cast::find_npc,
    tools::{Entries, Snapshot, allowed},
};

/// Allows or denies a tool to an NPC, from its next turn and over restarts.
pub fn change(guild: &mut Guild, call: &Call, allow: bool) -> Result<Answer, Refusal> {
    let (npc, tool) = (call.words("npc")?, call.words("tool")?);
    let cast = guild.cast();
    let (_, npc) = find_npc(&cast, npc)?;
    let (host, servers) = (guild.tools(), guild.shared.handles.servers.status(guild.owner()));
    let servers: Vec<String> = servers.into_iter().map(|it| it.name).collect();
    let snapshot = host.snapshot();
    let entry = meant(&snapshot, &servers, tool)?;
    let mut changes = guild.settings().tools.get(&npc.name).cloned().unwrap_or_default();
    changes.set(&entry, allow);
    let changed = allowed(snapshot.all(), npc, Some(&changes));
    let fits = |identity: &str| fits(&entry, identity);
    let now = changed.tools.iter().filter(|placed| fits(&placed.tool.identity)).count();
    let there = snapshot.all().iter().filter(|placed| fits(&placed.tool.identity)).count();
    let blocked = Entries::resolve(&npc.policy.blocklist, [entry.as_str()].into_iter()).0;
    if allow && (blocked.contains(&entry) || (there > 0 && now == 0)) {
        // Entries without effect are not stored.
        return Err(format!(
            "the policy of {} blocks '{entry}' (policy.blocklist in its file)",
            npc.name
        )
        .into());
    }
    guild.change_settings(|settings| settings.tools.insert(npc.name.clone(), changes));
    if let Ok(session) = guild.session() {
        host.set_changes(&session.id, guild.settings().tools.clone());
    }
    let name = &npc.name;
    Ok(Reply::private(match (allow, there) {
        (true, 0) => format!("{name} may use {entry} once its server is connected."),
        (true, _) => format!("{name} may use {entry} from its next turn on."),
        (false, _) => format!("{name} may not use {entry} any more."),
    })
    .into())
}

/// The identity, or all of a server's, that `text` names.
fn meant(snapshot: &Snapshot, servers: &[String], text: &str) -> Result<String, Refusal> {
    if let Some(placed) = snapshot.find(text) {
        return Ok(placed.tool.identity.to_string());
    }
    let identities = || snapshot.all().iter().map(|placed| &*placed.tool.identity);
    let server = text.split_once('.').map(|(server, _)| server);
    let is_of_a_server = server.is_some_and(|server| servers.iter().any(|it| it == server));
    let is_pattern = text.ends_with('*') && text.contains('.');
    if (is_pattern && identities().any(|identity| fits(text, identity)))
        || (is_of_a_server && text.len() > server.map_or(0, str::len) + 1)
    {
        return Ok(text.to_owned());
    }
    let whole = format!("{text}.*");
    let is_server = servers.iter().any(|it| it == text);
    if is_server || !text.contains('.') && identities().any(|identity| fits(&whole, identity)) {
        return Ok(whole);
    }
    let near = crate::yaml::nearest(text, identities());
    let hint = near.map_or_else(
        || "/tools list shows all".to_owned(),
        |near| format!("did you mean '{near}'?"),
    );
    Err(format!("unknown tool '{text}' ({hint})").into())
}

fn fits(entry: &str, identity: &str) -> bool {
    match entry.strip_suffix('*') {
        Some(prefix) => identity.starts_with(prefix),
        None => entry == identity,
    }
}
