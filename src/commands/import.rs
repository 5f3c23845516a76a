//! `/npc import` and `/entity import`: files of other programs, shown before anything changes.
//!
//! Entry functions: [`npcs`], [`entities`], [`previewed`] (once it is confirmed). Campaign files are imported
//! at once. **Never**: imports a file of another program without a confirmation.

use super::{
    answer::{Answer, NextStep, Reply, with_flag},
    call::Call,
    declared::{Kind, Parameter},
    face::Face,
    text::{Refusal, Text},
    world::{Limit, order, order_of_file, text},
};
use crate::{
    campaign::{FileImport, ImportChoices, ImportStage, WorldAnswer, WorldOrder},
    import::FILE_MAX,
};

/// Largest file of any program.
const OF_OTHERS: Limit = Limit { bytes: FILE_MAX, shown: "50 MB", wanted: "a file to import" };

pub const SECRETS: Parameter =
    Parameter::new("secrets", "NPCs know their own secrets (default: only you do)", Kind::Flag)
        .only_typed();
pub const CONFIRM: Parameter =
    Parameter::new("confirm", "Import it (default: only shows what would change)", Kind::Flag)
        .only_typed();

/// Imports a file that has NPCs.
pub fn npcs(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    import(face, call, true)
}

/// Imports a file of any kind.
pub fn entities(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    import(face, call, false)
}

fn import(face: &mut dyn Face, call: &Call, npcs: bool) -> Result<Answer, Refusal> {
    let choices = ImportChoices {
        npcs,
        voice: call.text("voice").map(str::to_owned),
        knows_secrets: call.flag(SECRETS.name),
        confirmed: call.flag(CONFIRM.name),
        has_own_cast: face.has_own_cast(),
    };
    let name = call.file("file").map(|file| file.name.clone()).unwrap_or_default();
    let line = typed(&name, &choices);
    let make = move |file| WorldOrder::Import(FileImport { file, choices });
    order_of_file(face, call, OF_OTHERS, make, |_, answer| Ok(shown(answer, line)))
}

/// The line that gives the same command again.
fn typed(file: &str, choices: &ImportChoices) -> String {
    let command = if choices.npcs { "npc" } else { "entity" };
    let line = match &choices.voice {
        // The label ends the path, which may have a comma.
        Some(voice) => format!("/{command} import file:{file} voice:{voice}"),
        None => format!("/{command} import {file}"),
    };
    if choices.knows_secrets { with_flag(&line, SECRETS.name) } else { line }
}

/// Imports the file with this key, as its caller has confirmed.
pub fn previewed(face: &mut dyn Face, key: String, knows_secrets: bool) -> Answer {
    let has_own_cast = face.has_own_cast();
    let wanted = WorldOrder::ImportPreviewed { key, knows_secrets, has_own_cast };
    order(face, wanted, |_, answer| Ok(shown(answer, String::new())))
}

fn shown(answer: WorldAnswer, line: String) -> Reply {
    let Some(stage) = answer.import else { return Reply::private(text(answer.text)) };
    // Names in the file are others' words.
    let lines = answer.text.lines().map(|line| Text::default().others(line));
    let reply = Reply::private(Text::lines(lines));
    match stage {
        ImportStage::Ended => reply,
        ImportStage::Previewed { key, has_secrets } => {
            reply.followed_by(NextStep::Import { key, has_secrets, line })
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt, future::ready};

    use super::{
        super::{ENTITY, NPC, stand_in::Recorded},
        *,
    };
    use crate::{
        commands::{GivenFile, Value},
        session::{Speaker, SpeakerId},
    };

    fn answered(command: &str, size: u64, more: Vec<(&'static str, Value)>) -> (String, String) {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true };
        let file = GivenFile::new("luna.png", Some(size), || ready(Ok(b"card".to_vec())).boxed());
        let values = [("file", Value::File(file))].into_iter().chain(more).collect();
        let sub = if command == "npc" { NPC.sub("import") } else { ENTITY.sub("import") };
        let mut table = Recorded::table();
        let answer = table.carries_out(sub.unwrap(), &Call::new(speaker, values));
        (table.orders.join("; "), answer)
    }

    #[test]
    fn file_is_imported_only_when_confirmed() {
        let flag = |name| (name, Value::Flag(true));
        for command in ["npc", "entity"] {
            let (order, answer) = answered(command, 4, Vec::new());
            assert!(order.contains("knows_secrets: false, confirmed: false"), "{order}");
            assert!(order.starts_with("turn; "), "before it is fetched: {order}");
            assert!(answer.ends_with(&format!("/{command} import luna.png confirm")), "{answer}");
            let (order, answer) = answered(command, 4, vec![flag("confirm"), flag("secrets")]);
            assert!(order.contains("knows_secrets: true, confirmed: true"), "{order}");
            assert!(!answer.contains("confirm"), "{answer}");
        }
        let voice = vec![("voice", Value::Words("joe".to_owned()))];
        let (order, answer) = answered("npc", 4, voice);
        assert!(order.contains("npcs: true, voice: Some(\"joe\")"), "{order}");
        assert!(answer.ends_with("/npc import file:luna.png voice:joe confirm:true"), "{answer}");
    }

    #[test]
    fn too_large_file_is_not_fetched() {
        let (order, why) = answered("npc", FILE_MAX + 1, Vec::new());
        assert!(order.is_empty() && why == "'luna.png' is larger than 50 MB", "{why}");
    }
}
