//! Services that receive what is said, for notices and `/privacy info`.
//!
//! Entry function: [`also_sent`]. **Never**: leaves one out.

use crate::{
    campaign::{NamesOf, NpcService, Services},
    commands::stored::FaceWords,
};

/// Most characters that names of NPCs fill in a text, of all services, because faces bound it.
const NAMES_MAX: usize = 300;

/// Services that are also sent own voices, words to compare, descriptions of pictures, queries, or
/// traces, and what programs outside receive; empty without any. `named` is the name of an NPC as the face shows it.
pub fn also_sent(services: &Services, named: fn(&str) -> String) -> String {
    let voices = own_voices(services, named);
    let others = [compared(services), pictures(services), searches(services)];
    voices + &others.concat() + &traced(services) + &programs(services)
}

/// Names in a row, as many as fit into `room` characters, and the number of the rest.
fn listed(names: &[String], room: usize, named: fn(&str) -> String) -> String {
    let mut line = String::new();
    for (index, name) in names.iter().enumerate() {
        let name = named(name);
        if index > 0 && line.chars().count() + name.chars().count() > room {
            let rest = names.len() - index;
            let noun = if rest == 1 { "NPC" } else { "NPCs" };
            return format!("{line} and {rest} more {noun}");
        }
        let separator = match index {
            0 => "",
            _ if index + 1 == names.len() => " and ",
            _ => ", ",
        };
        line += separator;
        line += &name;
    }
    line
}

/// NPCs for which a service is given the players' own voices, and which one; nothing without any.
fn own_voices(services: &Services, named: fn(&str) -> String) -> String {
    let room = NAMES_MAX / services.speaks_and_hears.len().max(1);
    let of_one = |NpcService { npcs, service }: &NpcService| {
        format!(
            " When you talk, or seem to talk, to {}, **your own voice**, not only your words, is \
             sent to {}, which hears it and speaks the answer.",
            listed(npcs, room, named),
            service.where_it_is()
        )
    };
    services.speaks_and_hears.iter().map(of_one).collect()
}

/// The service that is sent descriptions of pictures; nothing without one.
fn pictures(services: &Services) -> String {
    let draws = services.draws.as_ref();
    draws.map_or_else(String::new, |service| {
        format!(" NPCs may send descriptions of pictures to {}.", service.where_it_is())
    })
}

/// The service that is sent words to compare their meaning; nothing without one.
fn compared(services: &Services) -> String {
    let compares = services.compares.as_ref();
    compares.map_or_else(String::new, |service| {
        format!(" To look things up by meaning, your words also go to {}.", service.where_it_is())
    })
}

/// The service that is given queries when the web is searched; nothing without one.
fn searches(services: &Services) -> String {
    let Some(service) = &services.searches else { return String::new() };
    let onward = match service.name() {
        "searxng" => ", which passes it to public search engines",
        _ => "",
    };
    format!(
        " When a character or the assistant searches the web, the query goes to {}{onward}.",
        service.where_it_is()
    )
}

/// The collector that receives words in traces; nothing without one.
fn traced(services: &Services) -> String {
    let collector = services.collector.as_ref();
    collector.map_or_else(String::new, |service| {
        format!(
            " A trace of each answer, with its words and yours, goes to {}.",
            service.where_it_is()
        )
    })
}

/// Rights of programs outside; empty while the listener is off.
fn programs(services: &Services) -> String {
    let Some(programs) = services.programs else { return String::new() };
    let may = match programs.may_listen {
        true => {
            ", let characters speak, and **listen** (voice.listen): they get your words as text at \
             once"
        }
        false => " and let characters speak",
    };
    format!(" Programs with a token of the game master may read what is written down{may}.")
}

/// Asks if all that `whose`, as in "you have", said is to be deleted; `names` are those under which more goes.
pub fn question(whose: &str, place: &FaceWords, names: &NamesOf) -> String {
    let FaceWords { here, left, .. } = place;
    let mut text = format!(
        "This deletes every line that {whose} said {here}, everything derived from these lines, \
         and what NPCs remember of them. You can't undo this. The transcript keeps the NPCs' \
         answers, and the places of the lines without a name. {left}"
    );
    let listed = |names: &[String]| {
        names
            .iter()
            .map(|name| format!("`{}`", name.replace('`', "'")))
            .collect::<Vec<_>>()
            .join(", ")
    };
    if !names.own.is_empty() {
        let own = listed(&names.own);
        text.push_str(&format!(
            "\n\nAn earlier version of me stored NPCs' conversations and tool calls by name \
             only: everything under {own} is deleted too."
        ));
    }
    if !names.shared.is_empty() {
        let shared = listed(&names.shared);
        text.push_str(&format!(
            "\n\nSomeone else was called {shared} here too: what an earlier version of me stored \
             under that name stays. (This version tells the two of you apart.)"
        ));
    }
    text
}

/// Notice that `lines` lines were deleted.
pub fn deleted(lines: u64) -> String {
    format!(
        "Deleted: {lines} {}, the answers, and everything derived from them. New lines are \
         written down again (/privacy optout prevents that).",
        if lines == 1 { "line" } else { "lines" }
    )
}
