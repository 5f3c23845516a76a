//! Requests from an earlier run of the program.
//!
//! Entry method: [`Guild::take_up_earlier`]. The same buttons decide them; an approved call is made
//! then, outside its session. **Never**: calls a tool that has changed since it was shown.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serenity::all::{ChannelId, MessageId};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    approvals::ClosedMessage,
    effects::GuildEffects,
    panel::MessagePlace,
    state::{Guild, Job, nothing},
};
use crate::{
    campaign::{Handles, KeptCall, now},
    discord::{
        decisions::Request,
        ui::message::{ChannelMessage, FILE_BYTES, file_name},
    },
    domain::{CallId, Scope, SessionId, Tier, ToolCall, TurnId},
    tools::{
        ApprovalRequest, Attachment, Authority, CallContext, CallOutput, Caller, Decision, Effects,
        Payments, Progress, Taint,
    },
};

/// Note on requests that can no longer be decided.
const OVER: &str = "**Expired**: I was restarted before anyone decided. I didn't make the call; \
                    ask the NPC again if you still want it.";
/// Longest wait for the server of an approved tool.
const CONNECTING: Duration = Duration::from_secs(20);

impl Guild {
    /// Restores requests of an earlier run with their old deadlines; closes the others.
    pub(super) fn take_up_earlier(&mut self) {
        let (mut over, time) = (Vec::new(), now());
        for (key, shown) in self.settings().waiting.clone() {
            let place = (shown.message > 0).then(|| MessagePlace {
                channel: ChannelId::new(shown.channel),
                message: MessageId::new(shown.message),
            });
            match shown.call.filter(|call| call.until > time) {
                Some(call) => self.wait_on(&key, place, call),
                None => {
                    let closed = |place| ClosedMessage { place, text: OVER.to_owned() };
                    over.extend(place.map(closed));
                    self.change_settings(|settings| settings.waiting.remove(&key));
                }
            }
        }
        self.close_messages(over);
        self.keep_settings();
    }

    fn wait_on(&mut self, key: &str, place: Option<MessagePlace>, call: KeptCall) {
        let (answer, decided) = oneshot::channel();
        let asked = ApprovalRequest {
            npc: call.npc.as_str().into(),
            by: call.by.clone(),
            tool: call.tool.as_str().into(),
            arguments: call.arguments.clone(),
            reason: call.reason.clone().into(),
            definition: call.definition.as_str().into(),
            may_be_waived: call.may_be_waived,
        };
        self.approvals
            .pending
            .restore(key.to_owned(), Request::Call { asked, answer, callback: None });
        if let Some(hash) = call.callback.clone() {
            let (callback, decision) = self.shared.handles.notifier.callbacks.restore(hash);
            self.await_callback(key, callback, decision);
        }
        if let Some(place) = place {
            _ = self.approvals.shown(key, place);
        }
        let left = u64::try_from(call.until - now()).unwrap_or_default();
        let key = key.to_owned();
        self.spawn(async move {
            let decision = timeout(Duration::from_millis(left), decided).await;
            let call = match decision {
                Ok(Ok(Decision::Approve | Decision::Always)) => call,
                Ok(Ok(Decision::Edit(arguments))) => KeptCall { arguments, ..call },
                Ok(Ok(Decision::Complete(result))) => {
                    let what = CallOutput::given_outside(result).for_model();
                    let told = shown_result(&call, "completed", &what);
                    return Box::new(move |guild: &mut Self| {
                        guild.report(&key, place, told, Vec::new());
                    }) as Job;
                }
                // The outcome appears below the request.
                Ok(Ok(Decision::Deny(_)) | Err(_)) | Err(_) => return nothing(),
            };
            Box::new(move |guild: &mut Self| guild.make_approved(key, place, call)) as Job
        });
    }

    /// Makes an approved call. A running session pays for it and shows its pictures. Without one
    /// the account for calls outside sessions pays, and pictures follow the answer.
    fn make_approved(&mut self, key: String, place: Option<MessagePlace>, call: KeptCall) {
        let (scope, handles, cast) = (self.scope(), self.shared.handles.clone(), self.cast());
        let npc = cast.iter().find(|npc| npc.name == call.npc);
        let running = self.session().ok();
        let id = running.map(|session| &session.id);
        let payments = npc.map(|npc| handles.payments(&scope, id, npc));
        let session = running.map(|session| Arc::clone(&session.effects));
        let shown = Arc::new(Shown { session, ..Shown::default() });
        self.spawn(async move {
            let told = made(&handles, &scope, call, payments, Arc::clone(&shown)).await;
            Box::new(move |guild: &mut Self| guild.report(&key, place, told, shown.pictures()))
                as Job
        });
    }

    /// Shows the result of the request `key` beside it, else to the game master.
    fn report(
        &mut self,
        key: &str,
        place: Option<MessagePlace>,
        told: String,
        pictures: Vec<ChannelMessage>,
    ) {
        let pressed = self.approvals.take_pressed(key);
        match place.map(|place| place.channel).or(pressed) {
            Some(channel) => {
                self.post(channel, ChannelMessage::text(told).message());
                for picture in pictures {
                    self.post(channel, picture.message());
                }
            }
            None => self.tell_dm(told),
        }
    }
}

impl KeptCall {
    /// `until`: in milliseconds since 1970.
    pub(super) fn of(asked: &ApprovalRequest, until: i64) -> Self {
        Self {
            npc: asked.npc.to_string(),
            by: asked.by.clone(),
            tool: asked.tool.to_string(),
            arguments: asked.arguments.clone(),
            reason: asked.reason.to_string(),
            definition: asked.definition.to_string(),
            may_be_waived: asked.may_be_waived,
            until,
            callback: None,
        }
    }
}

/// Result of a call that was decided after a restart.
fn shown_result(call: &KeptCall, how: &str, what: &str) -> String {
    let KeptCall { npc, tool, .. } = call;
    format!("`{tool}`, as {how} for {npc}:\n```\n{}\n```", what.replace("```", "'''"))
}

/// Makes an approved call; returns its result for the game master.
async fn made(
    handles: &Handles,
    scope: &Scope,
    call: KeptCall,
    payments: Option<Arc<dyn Payments>>,
    shown: Arc<Shown>,
) -> String {
    let (npc, tool) = (call.npc.clone(), call.tool.clone());
    handles.servers.settled(CONNECTING, |prefix| tool.split('.').next() == Some(prefix)).await;
    let not_called = |why: &str| format!("`{tool}` was approved for {npc}, but not called: {why}");
    let host = handles.tools.within(scope);
    let (name, tier) = (Arc::<str>::from(npc.as_str()), Tier::Deep);
    let visible = host.visible(&name, tier, tier.ceiling());
    let Some(known) = visible.iter().find(|it| *it.tool.identity == *tool).cloned() else {
        return not_called("the tool is gone, or this NPC may no longer use it");
    };
    if *known.tool.fingerprint != *call.definition {
        return not_called("the tool has changed since you were asked (ask the NPC again)");
    }
    let caller = Caller { npc: name, tier, offered: visible.names(), sampler: None, payments };
    let context = CallContext {
        scope: scope.clone(),
        session: SessionId("approved".to_owned()),
        turn: TurnId(0),
        authority: Authority::Approved(caller),
        speaker: "game master".into(),
        by: call.by.clone(),
        deadline: Instant::now() + tier.ceiling().max(known.tool.max()),
        fresh: true,
        taint: Taint::default(),
        cancel: CancellationToken::new(),
        effects: Arc::clone(&shown) as Arc<dyn Effects>,
        progress: Progress::default(),
        span: Default::default(),
    };
    let made = ToolCall {
        id: CallId("approved".to_owned()),
        name: known.spec.name.to_string(),
        arguments: serde_json::Value::Object(call.arguments.clone()).to_string(),
        extra: serde_json::Map::new(),
    };
    let record = host.execute(&context, &made).await;
    let what = match &record.result {
        Ok(output) => output.for_model(),
        Err(error) => format!("{}: {error}", error.kind.name()),
    };
    let lines = shown.lines();
    format!("{}{lines}", shown_result(&call, "approved", &what))
}

/// Sends a tool's output to the game master too, except pictures made for a table.
#[derive(Default)]
struct Shown {
    lines: Mutex<Vec<String>>,
    /// Pictures made for a table while no session runs.
    pictures: Mutex<Vec<ChannelMessage>>,
    session: Option<Arc<GuildEffects>>,
}

impl Shown {
    fn lines(&self) -> String {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(|line| format!("\n{line}")).collect()
    }

    fn pictures(&self) -> Vec<ChannelMessage> {
        std::mem::take(&mut *self.pictures.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Effects for Shown {
    fn show(&self, text: &str) {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }

    fn attach(&self, tool: &str, attachment: &Attachment) -> bool {
        match (&self.session, &attachment.caption) {
            (Some(session), Some(_)) => session.attach(tool, attachment),
            (None, Some(caption)) if attachment.bytes.len() <= FILE_BYTES => {
                let name = file_name(tool, &attachment.mime);
                let (bytes, caption) = (attachment.bytes.to_vec(), caption.clone());
                let picture = ChannelMessage::Picture { name, bytes, caption };
                self.pictures.lock().unwrap_or_else(PoisonError::into_inner).push(picture);
                true
            }
            _ => {
                self.show(&format!("{tool} returned a file, which I can't show here."));
                false
            }
        }
    }

    fn halts(&self) -> u64 {
        self.session.as_ref().map_or(0, |session| session.halts())
    }

    fn tell_dm(&self, text: &str) {
        // Players may read the channel of the request.
        if let Some(session) = &self.session {
            session.tell_dm(text);
        }
    }
}
