//! Answers to interactions: the first one, edits of it, and follow-ups.
//!
//! Entry functions: handlers. Never: making interactions.

use super::{
    check_message,
    refusal::{Answered, Problems, Refusal, Reply},
    route::Call,
    write::{self, Draft},
};
use crate::{
    interactions::{First, Interaction, kind},
    state::State,
};
use serde_json::{Value, json};

/// Kinds of first answers, as Discord numbers them.
mod answer {
    /// A message.
    pub(super) const MESSAGE: u64 = 4;
    /// A message will come.
    pub(super) const DEFERRED: u64 = 5;
    /// The message with the button may change later.
    pub(super) const DEFERRED_UPDATE: u64 = 6;
    /// The message with the button changes.
    pub(super) const UPDATE: u64 = 7;
    /// Choices for what is being typed.
    pub(super) const CHOICES: u64 = 8;
    /// A form.
    pub(super) const MODAL: u64 = 9;
}

/// 10062.
fn unknown_interaction() -> Refusal {
    Refusal::fault(404, 10_062, "Unknown interaction")
}

/// The first answer.
pub(crate) fn callback(call: &Call) -> Answered {
    let id = call.id("interaction_id")?;
    let now = call.inner.clock.now();
    let wanted = call.body["type"].as_u64().unwrap_or_default();
    let data = &call.body["data"];
    call.inner.change(|state| {
        let known = state.interactions.by_id.get_mut(&id);
        let it = known.filter(|it| Some(it.token.as_str()) == call.param("token"));
        let it = it.ok_or_else(unknown_interaction)?;
        if it.first.is_some() {
            return Err(Refusal::fault(400, 40_060, "Interaction has already been acknowledged."));
        }
        if now > it.created + call.inner.options.answer_within {
            it.late.get_or_insert(now);
            return Err(unknown_interaction());
        }
        let updates = it.source.is_some();
        let fits = match wanted {
            answer::MESSAGE | answer::DEFERRED => it.kind != kind::AUTOCOMPLETE,
            answer::DEFERRED_UPDATE | answer::UPDATE => updates,
            answer::CHOICES => it.kind == kind::AUTOCOMPLETE,
            answer::MODAL => matches!(it.kind, kind::COMMAND | kind::COMPONENT),
            _ => false,
        };
        if !fits {
            let message =
                format!("type {wanted} does not answer an interaction of type {}", it.kind);
            return Err(Problems::only("type", "INTERACTION_RESPONSE_TYPE_INVALID", &message));
        }
        let it = it.clone();
        let original = first(call, state, &it, wanted, data)?;
        if let Some(it) = state.interactions.by_id.get_mut(&id) {
            it.first = Some(First { at: now, kind: wanted, data: data.clone() });
            it.original = original;
        }
        told(call, state, &it, wanted, original)
    })
}

/// Does what the first answer says; the message it is about.
fn first(
    call: &Call,
    state: &mut State,
    it: &Interaction,
    wanted: u64,
    data: &Value,
) -> Result<Option<u64>, Refusal> {
    match wanted {
        answer::MESSAGE => {
            check_message::message(data)?;
            write(call, state, it, data).map(Some)
        }
        answer::DEFERRED => {
            let flags = data["flags"].as_u64().unwrap_or_default() & 64 | 128;
            write(call, state, it, &json!({"flags": flags})).map(Some)
        }
        answer::DEFERRED_UPDATE => Ok(it.source),
        answer::UPDATE => {
            check_message::message(data)?;
            let source = it.source.unwrap_or_default();
            write::rewrite(call.inner, state, (it.channel, source), data, &call.files)?;
            Ok(Some(source))
        }
        answer::CHOICES => check_message::choices(data).map(|()| None),
        _ => check_message::modal(data).map(|()| None),
    }
}

/// Writes a message that belongs to an interaction.
fn write(call: &Call, state: &mut State, it: &Interaction, body: &Value) -> Result<u64, Refusal> {
    let ephemeral = body["flags"].as_u64().is_some_and(|flags| flags & 64 != 0);
    let draft = Draft {
        channel: it.channel,
        author: state.world.bot,
        body,
        files: &call.files,
        interaction: Some(it.metadata(state)),
        ephemeral_for: ephemeral.then_some(it.user),
    };
    draft.write(call.inner, state)
}

/// 204, or what has become of it if asked for.
fn told(
    call: &Call,
    state: &State,
    it: &Interaction,
    wanted: u64,
    original: Option<u64>,
) -> Answered {
    if !call.query.split('&').any(|pair| pair == "with_response=true") {
        return Reply::nothing();
    }
    let message = original.and_then(|id| state.world.message(it.channel, id));
    Reply::ok(json!({
        "interaction": {
            "id": it.id.to_string(), "type": it.kind, "response_message_id": original.map(|id| id.to_string()),
        },
        "resource": {"type": wanted, "message": message.map(|message| message.json().clone())},
    }))
}

/// The interaction of the path's token, if it may still be used.
fn by_token<'s>(call: &Call, state: &'s State) -> Result<&'s Interaction, Refusal> {
    if call.id("application_id")? != state.world.bot {
        return Err(Refusal::fault(404, 10_015, "Unknown Webhook"));
    }
    let token = call.param("token").unwrap_or_default();
    let it = state.interactions.by_id.values().find(|it| it.token == token);
    let answered = it.filter(|it| it.first.is_some());
    let it = answered.ok_or_else(|| Refusal::fault(404, 10_015, "Unknown Webhook"))?;
    if call.inner.clock.now() > it.created + call.inner.options.token_lasts {
        return Err(Refusal::fault(401, 50_027, "Invalid Webhook Token"));
    }
    Ok(it)
}

/// The message of the path: `@original` or a follow-up.
fn target(call: &Call, state: &State) -> Result<(u64, u64), Refusal> {
    let it = by_token(call, state)?;
    let id = match call.param("message_id") {
        None => it.original,
        Some(_) => Some(call.id("message_id")?)
            .filter(|id| it.follow_ups.contains(id) || it.original == Some(*id)),
    };
    let id = id.filter(|id| state.world.message(it.channel, *id).is_some());
    Ok((it.channel, id.ok_or_else(|| Refusal::unknown(10_008, "Message"))?))
}

/// A follow-up; the first one after a deferral fills in the deferred message.
pub(crate) fn follow_up(call: &Call) -> Answered {
    check_message::message(&call.body)?;
    call.inner.change(|state| {
        let it = by_token(call, state)?.clone();
        let thinking = it.original.filter(|id| {
            let message = state.world.message(it.channel, *id);
            message.is_some_and(|one| {
                one.json()["flags"].as_u64().is_some_and(|flags| flags & 128 != 0)
            })
        });
        if let Some(original) = thinking {
            return Reply::ok(write::rewrite(
                call.inner,
                state,
                (it.channel, original),
                &call.body,
                &call.files,
            )?);
        }
        let id = write(call, state, &it, &call.body)?;
        if let Some(it) = state.interactions.by_id.get_mut(&it.id) {
            it.follow_ups.push(id);
        }
        let message = state.world.message(it.channel, id);
        Reply::ok(message.map(|message| message.json().clone()).unwrap_or_default())
    })
}

/// One of its messages.
pub(crate) fn show(call: &Call) -> Answered {
    call.inner.read(|state| {
        let (channel, id) = target(call, state)?;
        let message = state.world.message(channel, id);
        Reply::ok(message.map(|message| message.json().clone()).unwrap_or_default())
    })
}

/// Other words for one of its messages.
pub(crate) fn edit(call: &Call) -> Answered {
    check_message::message(&call.body)?;
    call.inner.change(|state| {
        let place = target(call, state)?;
        Reply::ok(write::rewrite(call.inner, state, place, &call.body, &call.files)?)
    })
}

/// One of its messages goes.
pub(crate) fn delete(call: &Call) -> Answered {
    call.inner.change(|state| {
        let (channel, id) = target(call, state)?;
        write::erase(state, channel, id);
        Reply::nothing()
    })
}
