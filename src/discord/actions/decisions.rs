//! Buttons and forms of a request that waits for the game master.
//!
//! Entry functions: [`press`], [`answer`]. **Never**: lets anyone but a game master decide.

use serde_json::{Map, Value};

use crate::discord::{
    commands::{Answer, Refusal},
    decisions::{Asked, Choice, DecisionError, DecisionProgress, PendingDecisions, Request},
    guild::Guild,
    ui::{
        action::{ButtonPress, DecisionStep},
        approvals,
        reply::Reply,
    },
};

/// Handles a button of a request, or the form with a call's arguments.
pub fn press(
    guild: &mut Guild,
    press: &ButtonPress,
    key: &str,
    step: DecisionStep,
) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    guild.approvals.pressed_in(key, press.channel);
    let asked = guild.approvals.pending.get(key).filter(|it| !it.is_over()).map(Request::asked);
    let done = take_step(&mut guild.approvals.pending, press, key, step);
    if let (DecisionStep::Always, Ok(_), Some(Asked::Call(call))) = (step, &done, asked)
        && call.may_be_waived
    {
        guild.change_settings(|settings| settings.permits.allow(&call.tool, &call.definition));
    }
    guild.forget_decided();
    done
}

/// Takes a filled-in page of a server's question.
pub fn answer(
    guild: &mut Guild,
    press: &ButtonPress,
    key: &str,
    page: usize,
) -> Result<Answer, Refusal> {
    if !press.is_dm {
        return Err(guild.only_dms().into());
    }
    let values = press.values.clone();
    let done = decide(&mut guild.approvals.pending, press, key, Choice::Fill { page, values });
    guild.forget_decided();
    done
}

fn take_step(
    pending: &mut PendingDecisions,
    press: &ButtonPress,
    key: &str,
    step: DecisionStep,
) -> Result<Answer, Refusal> {
    let choice = match step {
        DecisionStep::Approve => Choice::Approve,
        DecisionStep::Always => Choice::Always,
        DecisionStep::Deny => Choice::Deny,
        DecisionStep::Accept => Choice::Accept,
        DecisionStep::Decline => Choice::Decline,
        DecisionStep::Edited => Choice::Edit(edited(press)?),
        DecisionStep::Edit | DecisionStep::Fill => return form(pending, press, key),
    };
    decide(pending, press, key, choice)
}

/// The form for the next step; refuses if the request is over.
fn form(pending: &mut PendingDecisions, press: &ButtonPress, key: &str) -> Result<Answer, Refusal> {
    let request = pending.get(key).ok_or(DecisionError::Over)?;
    let asked = request.asked();
    if request.is_over() {
        pending.withdraw(key);
        return Ok(closed(approvals::decided(&asked, pending.over(key), &press.name)));
    }
    let form = approvals::form(&asked, key);
    Ok(Answer::Form(
        form.ok_or("these arguments are too long to edit here (approve or deny them)")?,
    ))
}

fn decide(
    pending: &mut PendingDecisions,
    press: &ButtonPress,
    key: &str,
    choice: Choice,
) -> Result<Answer, Refusal> {
    Ok(match pending.decide(key, choice)? {
        DecisionProgress::Decided(asked, outcome) => {
            closed(approvals::decided(&asked, outcome, &press.name))
        }
        DecisionProgress::Continues(asked) => Answer::Replace(
            Reply::public(approvals::text(&asked)).with_rows(approvals::rows(&asked, key)),
        ),
    })
}

fn closed(text: String) -> Answer {
    Answer::Replace(Reply::public(text))
}

fn edited(press: &ButtonPress) -> Result<Map<String, Value>, Refusal> {
    let text = press.values.first().map(String::as_str).unwrap_or_default();
    match serde_json::from_str(text) {
        Ok(Value::Object(edited)) => Ok(edited),
        Ok(_) => {
            Err("the arguments are not a JSON object (write them as { \"name\": value })".into())
        }
        Err(error) => {
            Err(format!("the arguments are not valid JSON: {error} (press Edit again)").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serenity::all::{ChannelId, Permissions, UserId};
    use tokio::sync::oneshot;

    use super::*;
    use crate::{
        domain::SessionId,
        tools::{ApprovalRequest, Decision, Form},
    };

    fn press(values: &[&str]) -> ButtonPress {
        ButtonPress {
            user: UserId::new(7),
            name: "Dora".to_owned(),
            is_dm: true,
            may: Permissions::empty(),
            channel: ChannelId::new(1),
            values: values.iter().map(|it| (*it).to_owned()).collect(),
        }
    }

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    fn add(pending: &mut PendingDecisions, request: Request) -> String {
        pending.add(&SessionId("table".to_owned()), request)
    }

    fn call(pending: &mut PendingDecisions) -> (String, oneshot::Receiver<Decision>) {
        let (answer, answered) = oneshot::channel();
        let asked = ApprovalRequest {
            npc: "Bartok".into(),
            by: None,
            tool: "home.lamp".into(),
            arguments: object(&json!({"on": true})),
            reason: "it changes something".into(),
            definition: "1".into(),
            may_be_waived: true,
        };
        (add(pending, Request::Call { asked, answer, callback: None }), answered)
    }

    fn text(answer: Result<Answer, Refusal>) -> String {
        match answer {
            Ok(Answer::Replace(reply)) => reply.text().to_owned(),
            _ => panic!("it still waits"),
        }
    }

    #[test]
    fn decided_calls_show_decision_and_decider() {
        let mut pending = PendingDecisions::default();
        let (key, mut answered) = call(&mut pending);
        let done = text(take_step(&mut pending, &press(&[]), &key, DecisionStep::Approve));
        let expected = "**Bartok** wants to call `home.lamp` (it changes something).\n\
                        ```json\n{\n  \"on\": true\n}\n```\n**Approved by Dora**";
        assert_eq!(done, expected);
        assert_eq!(answered.try_recv(), Ok(Decision::Approve));
        let (key, mut answered) = call(&mut pending);
        let done = text(take_step(&mut pending, &press(&[]), &key, DecisionStep::Always));
        assert!(done.contains("Approved for good"), "{done}");
        assert_eq!(answered.try_recv(), Ok(Decision::Always));
        let (key, mut answered) = call(&mut pending);
        let done = text(take_step(&mut pending, &press(&[]), &key, DecisionStep::Deny));
        assert!(done.contains("Denied by Dora"));
        assert!(matches!(answered.try_recv(), Ok(Decision::Deny(_))));
        let (key, mut answered) = call(&mut pending);
        let edited = press(&[r#"{"on": false}"#]);
        let done = text(take_step(&mut pending, &edited, &key, DecisionStep::Edited));
        assert!(done.contains("Edited and approved"));
        assert_eq!(answered.try_recv(), Ok(Decision::Edit(object(&json!({"on": false})))));
        assert!(pending.get(&key).is_none(), "it waits no more");
    }

    #[test]
    fn edit_with_invalid_json_leaves_request_open() {
        let mut pending = PendingDecisions::default();
        let (key, mut answered) = call(&mut pending);
        let taken = take_step(&mut pending, &press(&["on = no"]), &key, DecisionStep::Edited);
        let Err(Refusal(why)) = taken else { panic!("it was taken") };
        assert!(why.contains("JSON"), "{why}");
        assert!(!pending.get(&key).unwrap().is_over());
        assert_eq!(answered.try_recv(), Err(oneshot::error::TryRecvError::Empty));
        let form = take_step(&mut pending, &press(&[]), &key, DecisionStep::Edit);
        assert!(matches!(form, Ok(Answer::Form(_))));
        assert!(pending.get(&key).is_some());
    }

    #[test]
    fn decision_that_comes_too_late_is_none() {
        let mut pending = PendingDecisions::default();
        let (key, answered) = call(&mut pending);
        drop(answered);
        assert!(pending.get(&key).unwrap().is_over());
        let done = text(take_step(&mut pending, &press(&[]), &key, DecisionStep::Approve));
        assert!(done.contains("Expired"));
        let (key, answered) = call(&mut pending);
        drop(answered);
        let done = text(take_step(&mut pending, &press(&[]), &key, DecisionStep::Edit));
        assert!(done.contains("Expired"));
        let again = take_step(&mut pending, &press(&[]), &key, DecisionStep::Edit);
        assert!(again.is_err_and(|Refusal(why)| why.contains("already decided")));
    }

    #[test]
    fn long_question_is_filled_in_form_by_form() {
        let properties: Map<String, Value> =
            (0..6).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
        let schema = json!({ "properties": properties });
        let form = Form { server: "home".into(), message: "Which?".to_owned(), schema };
        let (answer, mut answered) = oneshot::channel();
        let mut pending = PendingDecisions::default();
        let key = add(&mut pending, Request::question(form, answer).unwrap());
        let mut fill = |page, values: &[&str]| {
            let values = press(values).values;
            decide(&mut pending, &press(&[]), &key, Choice::Fill { page, values })
        };
        let first = ["a", "b", "c", "d", "e"];
        assert!(matches!(fill(0, &first), Ok(Answer::Replace(_))), "one form was enough");
        // The first form again, submitted later by another game master.
        assert!(fill(0, &first).is_err(), "a form was taken twice");
        assert!(text(fill(1, &["f"])).contains("Answered by Dora"));
        assert_eq!(answered.try_recv().unwrap().len(), 6);
    }
}
