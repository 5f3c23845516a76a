use serde_json::json;
use serenity::all::{Permissions, UserId};

use super::*;

fn press(values: &[&str]) -> ButtonPress {
    ButtonPress {
        user: UserId::new(7),
        name: "Dora".to_owned(),
        is_dm: true,
        may: Permissions::empty(),
        channel: ChannelId::new(1),
        id: String::new(),
        values: values.iter().map(|it| (*it).to_owned()).collect(),
    }
}

fn leave() -> (Request, oneshot::Receiver<Decision>) {
    let (answer, answered) = oneshot::channel();
    let arguments = json!({"on": true}).as_object().cloned().unwrap();
    let wants = Wants::Leave { arguments, answer };
    (Request { text: "Bartok wants it".to_owned(), message: None, wants }, answered)
}

/// The new text of a decided request.
fn text(step: Step) -> String {
    match step {
        Step::Done(Answer::Replace(reply)) => reply.text().to_owned(),
        _ => panic!("it still waits"),
    }
}

#[test]
fn a_call_is_approved_denied_or_edited_and_it_says_by_whom() {
    let (request, mut answered) = leave();
    let done = text(step(request, "approve", ("k", &press(&[]))));
    assert_eq!(done, "Bartok wants it\n**Approved by Dora**");
    assert_eq!(answered.try_recv(), Ok(Decision::Approve));
    let (request, mut answered) = leave();
    assert!(text(step(request, "deny", ("k", &press(&[])))).contains("Denied by Dora"));
    assert!(matches!(answered.try_recv(), Ok(Decision::Deny(_))));
    let (request, mut answered) = leave();
    let edited = press(&[r#"{"on": false}"#]);
    assert!(text(step(request, "edited", ("k", &edited))).contains("Edited and approved"));
    let expected = json!({"on": false}).as_object().cloned().unwrap();
    assert_eq!(answered.try_recv(), Ok(Decision::Edit(expected)));
}

#[test]
fn arguments_that_are_no_json_leave_the_request_open() {
    let (request, mut answered) = leave();
    let Step::Open(request, Err(Refusal(why))) =
        step(request, "edited", ("k", &press(&["on = no"])))
    else {
        panic!("it was taken")
    };
    assert!(why.contains("no JSON"), "{why}");
    assert!(!request.is_over());
    assert_eq!(answered.try_recv(), Err(oneshot::error::TryRecvError::Empty));
    let form = step(request, "edit", ("k", &press(&[])));
    assert!(matches!(form, Step::Open(_, Ok(Answer::Form(_)))));
}

#[test]
fn a_decision_that_comes_too_late_is_none() {
    let (request, answered) = leave();
    drop(answered);
    assert!(request.is_over());
    assert!(text(step(request, "approve", ("k", &press(&[])))).contains("Expired"));
}

#[test]
fn a_long_question_is_filled_in_form_by_form() {
    let properties: Map<String, Value> =
        (0..6).map(|n| (format!("f{n}"), json!({"type": "string"}))).collect();
    let question = Question::of(&json!({ "properties": properties })).unwrap();
    let (answer, mut answered) = oneshot::channel();
    let (server, filled) = ("home".to_owned(), Map::new());
    let wants = Wants::Answer { server, question, filled, page: 0, answer };
    let request = Request { text: "home asks".to_owned(), message: None, wants };
    let first = press(&["a", "b", "c", "d", "e"]);
    let Step::Open(request, Ok(Answer::Replace(_))) = step(request, "filled-0", ("k", &first))
    else {
        panic!("one form was enough")
    };
    // The first form once more, by somebody who was slower.
    let Step::Open(request, Err(_)) = step(request, "filled-0", ("k", &first)) else {
        panic!("a form was taken twice")
    };
    assert!(text(step(request, "filled-1", ("k", &press(&["f"])))).contains("Answered by Dora"));
    assert_eq!(answered.try_recv().unwrap().len(), 6);
}
