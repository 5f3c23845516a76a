//! Answers of buttons and forms.

use serde_json::json;
use serenity::all::{ChannelId, Permissions, UserId};
use tokio::sync::oneshot;

use super::{Message, answered, guild, message};
use crate::{
    campaign::FactId,
    discord::{
        actions,
        decisions::Request,
        guild::Guild,
        ui::action::{
            Action, ButtonPress, ConsentButton, DecisionStep, FactPlace, FactStep, PanelButton,
            SetupChoice,
        },
    },
    domain::{CampaignKey, SessionId},
    tools::{ApprovalRequest, Decision},
};

fn press(is_dm: bool, values: &[&str]) -> ButtonPress {
    ButtonPress {
        user: UserId::new(11),
        name: "Mira the Bold".to_owned(),
        is_dm,
        may: if is_dm { Permissions::MANAGE_GUILD } else { Permissions::empty() },
        channel: ChannelId::new(5),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    }
}

fn decision(key: &str, step: DecisionStep) -> Action {
    Action::Decision { key: key.to_owned(), step }
}

/// Presses, each with a case's name.
fn presses() -> Vec<(&'static str, ButtonPress, Action)> {
    let id = FactId { campaign: CampaignKey("mill".to_owned()), fact: "fact-7".to_owned() };
    let fact = |step| Action::Fact { place: FactPlace::Message, id: id.clone(), step };
    let (player, dm) = (|| press(false, &[]), || press(true, &[]));
    vec![
        ("a player mutes", player(), Action::Panel(PanelButton::Mute)),
        ("mute without a session", dm(), Action::Panel(PanelButton::Mute)),
        ("opt in", player(), Action::Consent(ConsentButton::In)),
        ("opt out", player(), Action::Consent(ConsentButton::Out)),
        ("a request that is over", dm(), decision("gone", DecisionStep::Approve)),
        ("another's lines", player(), Action::DeleteOwn(12)),
        ("own lines", player(), Action::DeleteOwn(11)),
        ("keep an entity", dm(), Action::KeepEntity),
        (
            "an import that is gone",
            dm(),
            Action::Import { key: "a1".to_owned(), knows_secrets: false },
        ),
        ("a fact that is gone", dm(), fact(FactStep::Accept)),
        ("a fact without words", press(true, &[" "]), fact(FactStep::Edited)),
        ("a player sets up", player(), Action::Setup(SetupChoice::Consent)),
        ("unknown consent", press(true, &["maybe"]), Action::Setup(SetupChoice::Consent)),
        ("unknown log channel", press(true, &["77"]), Action::Setup(SetupChoice::Log)),
        ("test without a session", dm(), Action::Setup(SetupChoice::Test)),
        ("no json", press(true, &["{"]), decision("table.1", DecisionStep::Edited)),
        ("a list of arguments", press(true, &["[]"]), decision("table.1", DecisionStep::Edited)),
    ]
}

/// Asks the game master about a call; it waits while the receiver lives.
fn ask(guild: &mut Guild) -> oneshot::Receiver<Decision> {
    let (answer, waits) = oneshot::channel();
    let asked = ApprovalRequest {
        npc: "Bartok".into(),
        by: None,
        tool: "post.send".into(),
        arguments: json!({}).as_object().cloned().unwrap_or_default(),
        reason: "the tool may change something".into(),
        definition: "d".into(),
        may_be_waived: false,
    };
    let request = Request::Call { asked, answer, callback: None };
    guild.approvals.pending.add(&SessionId("table".to_owned()), request);
    waits
}

pub async fn messages() -> Vec<Message> {
    let mut all = Vec::new();
    for (name, press, action) in presses() {
        let (_folder, mut guild) = guild();
        let _waits = ask(&mut guild);
        let answer = actions::act(&mut guild, &press, action);
        all.push(message(&format!("button: {name}"), answered(&mut guild, answer).await));
    }
    all
}
