//! `/schedule`: workflows and NPCs' lines at set times.

use super::{
    answer::{Answer, Reply},
    call::Call,
    declared::{Command, Kind, Parameter, Subcommand, Suggested},
    face::Face,
    text::{Refusal, Text},
};
use crate::{
    campaign::{NewSchedule, read_inputs},
    logic::schedule::Planned,
};

/// Longest time as it is typed, in characters.
const WHEN_MAX: u16 = 60;
/// Longest name of a workflow, in characters.
const WORKFLOW_MAX: u16 = 48;
/// Longest inputs and lines, in characters.
const TEXT_MAX: u16 = 2_000;
/// Longest line of a schedule, in characters; its first word is the id.
const ID_MAX: u16 = 100;

pub static COMMAND: Command = Command {
    name: "schedule",
    description: "Start workflows and NPCs' lines at set times",
    subs: &[
        Subcommand::new("schedule list", "List all schedules", &[], list),
        Subcommand::new(
            "schedule create",
            "Start a workflow, or have an NPC say a line, at a time",
            &[
                Parameter::required(
                    "when",
                    "at 21:30, in 90m, every 15m, every friday 19:30, or session +20m",
                    Kind::Words(WHEN_MAX),
                ),
                Parameter::new(
                    "workflow",
                    "Workflow to start",
                    Kind::Suggested(Suggested::Workflows, WORKFLOW_MAX),
                ),
                Parameter::new(
                    "inputs",
                    "Inputs: NAME=VALUE, NAME=VALUE; or a JSON object",
                    Kind::Words(TEXT_MAX),
                ),
                Parameter::new("npc", "NPC that says the text", Kind::Npc),
                Parameter::new("text", "What the NPC says", Kind::Words(TEXT_MAX)),
            ],
            create,
        ),
        Subcommand::new(
            "schedule cancel",
            "Cancel a schedule",
            &[Parameter::required(
                "id",
                "Schedule to cancel",
                Kind::Suggested(Suggested::Schedules, ID_MAX),
            )],
            cancel,
        ),
    ],
};

fn list(face: &mut dyn Face, _: &Call) -> Result<Answer, Refusal> {
    let planner = face.planner()?;
    let listed = async move {
        let entries = planner.list().await;
        entries.map(|all| all.iter().map(|entry| planner.line(entry)).collect::<Vec<_>>())
    };
    Ok(Answer::after(listed, |_, lines| {
        let lines = lines?;
        if lines.is_empty() {
            return Ok(Reply::private("Nothing is scheduled (use /schedule create)."));
        }
        let lines = lines.into_iter().map(|line| Text::default().others(line));
        Ok(Reply::private(Text::lines(lines)).titled("Schedules"))
    }))
}

fn create(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (when, action) = (call.words("when")?.to_owned(), action(call)?);
    let planner = face.planner()?;
    let by = Some(planner.person(call.speaker.id.0, &call.speaker.name));
    let made = async move {
        let made = planner.create(NewSchedule { when, action, by }).await;
        made.map(|entry| planner.line(&entry))
    };
    Ok(Answer::after(made, |_, line| {
        Ok(Reply::private(Text::from("Scheduled: ").others(line?).plain(".")))
    }))
}

/// Action of a new schedule: exactly one of a workflow and a line.
fn action(call: &Call) -> Result<Planned, Refusal> {
    match (call.text("workflow"), call.text("npc"), call.text("text")) {
        (Some(name), None, None) => {
            let inputs = read_inputs(call.text("inputs").unwrap_or_default())?;
            Ok(Planned::Workflow { name: name.to_owned(), inputs })
        }
        (None, Some(npc), Some(text)) => {
            Ok(Planned::Line { npc: npc.to_owned(), text: text.to_owned() })
        }
        _ => Err("a schedule needs a workflow, or an npc and a text (give one of the two)".into()),
    }
}

fn cancel(face: &mut dyn Face, call: &Call) -> Result<Answer, Refusal> {
    let (planner, id) = (face.planner()?, call.words("id")?.to_owned());
    let cancelled = async move { planner.cancel(&id).await };
    Ok(Answer::after(cancelled, |_, id| {
        Ok(Reply::private(Text::from("Schedule ").strong(id?).plain(" is cancelled.")))
    }))
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use futures::FutureExt;
    use serde_json::json;

    use super::{
        super::{ALL, Finders, GivenFile, read},
        *,
    };
    use crate::session::{Speaker, SpeakerId};

    /// The time and the action of a typed line, or the refusal.
    fn typed(line: &str) -> Result<(String, String), String> {
        let speaker = Speaker { id: SpeakerId(11), name: "Max".to_owned(), is_dm: true };
        let file = |path: &str| GivenFile::new(path, None, || ready(Ok(Vec::new())).boxed());
        let found = Finders { person: &|_| None, file: &file };
        let (_, call) = read(&ALL, line, speaker, found).unwrap().unwrap();
        let planned = action(&call).map_err(|Refusal(why)| why)?;
        let planned = serde_json::to_value(planned).unwrap();
        Ok((call.words("when").map_err(|Refusal(why)| why)?.to_owned(), planned.to_string()))
    }

    #[test]
    fn typed_schedules_are_read() {
        let bells = |inputs: serde_json::Value| {
            let planned = Planned::Workflow { name: "bells".to_owned(), inputs };
            serde_json::to_value(planned).unwrap().to_string()
        };
        let of = |when: &str, planned: String| Ok((when.to_owned(), planned));
        assert_eq!(typed("/schedule create every 15m, bells"), of("every 15m", bells(json!({}))));
        let line = r#"/schedule create at 21:30 workflow:bells inputs:{"times": 3, "hour": 9}"#;
        assert_eq!(typed(line), of("at 21:30", bells(json!({"times": 3, "hour": 9}))));
        let hale = Planned::Line { npc: "Hale".to_owned(), text: "Close the gates!".to_owned() };
        let hale = serde_json::to_value(hale).unwrap().to_string();
        let line = "/schedule create session +20m npc:Hale text:Close the gates!";
        assert_eq!(typed(line), of("session +20m", hale));
    }

    #[test]
    fn half_a_schedule_is_refused() {
        for line in [
            "/schedule create in 5m",
            "/schedule create in 5m npc:Hale",
            "/schedule create in 5m workflow:bells npc:Hale text:Close the gates!",
        ] {
            assert!(typed(line).unwrap_err().starts_with("a schedule needs"), "{line}");
        }
        let wrong = typed("/schedule create in 5m workflow:bells inputs:three").unwrap_err();
        assert!(wrong.starts_with("'three' is no input"), "{wrong}");
    }
}
