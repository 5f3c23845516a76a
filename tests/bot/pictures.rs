//! Pictures asked for by voice: shown to the table, their prompts to the game master alone.

use std::{sync::Arc, time::Duration};

use discord_loopback::{AUDIBLE, Fault, Message, Options, Player, Slash};
use tokio::sync::Notify;

use super::{
    consolidating::log_channel,
    hall::{BOUND, Hall, said},
};
use crate::{
    pictures::{ALT, PROMPT, draws, last_message},
    support::{
        chat_server::ChatServer,
        images::{
            Form, ImageServer, Picture,
            files::{self, SMALL},
        },
    },
};

/// After that the bot has said what it had to say.
const QUIET: Duration = Duration::from_millis(700);
const LINE: &str = "Greymantle, show us the ring";

/// A session at which Greymantle draws; the service holds the first picture until `go`.
struct Studio {
    hall: Hall,
    chat: ChatServer,
    images: ImageServer,
    go: Arc<Notify>,
    dora: Player,
}

impl Studio {
    async fn new() -> Self {
        let (chat, images) = (ChatServer::start(), ImageServer::start(Form::OpenAi));
        draws(&chat);
        let go = Arc::new(Notify::new());
        images.push(Picture::bytes(files::png()).held(&go));
        let config = format!(
            "providers:\n  llm: {{ name: openai, base_url: \"{}\", model: m }}\n{}npcs: # own cast\n  - name: \
             Greymantle\n    voice: {{ voice_id: rms }}\n    budget_tier: deep\n    tools: [\"image-gen.*\"]\n  - \
             name: Bartok\n    voice: {{ voice_id: awb }}\n",
            chat.base_url(),
            images.entry("")
        );
        let (hall, dora) = Hall::in_session(Options::default(), &config).await;
        hall.listens_to("Dora").await;
        hall.has_greeted(&dora).await;
        Self { hall, chat, images, go, dora }
    }

    /// Dora asks for a picture; it is being made, and Greymantle has answered her.
    async fn asks(&self) {
        let bot = self.hall.discord.bot();
        self.dora.forget();
        self.dora.say(&said("slt", LINE)).await.unwrap();
        self.images.received(1).await;
        self.chat.answers(2).await;
        self.dora.wait_until_heard(bot, BOUND).await.unwrap();
        self.dora.wait_for_silence(bot, QUIET, BOUND).await.unwrap();
        self.dora.forget();
    }

    /// Everything that the players may read.
    fn public(&self) -> Vec<Message> {
        self.hall.discord.messages(self.hall.inn.text)
    }
}

/// True if any version of a message contains `part`.
fn has_said(message: &Message, part: &str) -> bool {
    message.versions.iter().any(|version| version.json.to_string().contains(part))
}

#[tokio::test(flavor = "multi_thread")]
async fn picture_asked_for_by_voice_is_shown() {
    let studio = Studio::new().await;
    let (hall, bot) = (&studio.hall, studio.hall.discord.bot());
    let log = log_channel(hall).await;
    studio.asks().await;
    let tiers = hall.told(&hall.dm, Slash::new("tier show")).await;
    assert!(tiers.contains("last answer: deep"), "{tiers}");
    assert!(studio.public().iter().all(|it| it.files().is_empty()), "it is not made yet");
    studio.go.notify_one();
    let shown = hall.reads(|it| !it.files().is_empty()).await;
    assert!(shown.text().contains("Greymantle"), "{}", shown.text());
    let attachment = &shown.json()["attachments"][0];
    assert_eq!(attachment["description"], ALT, "{attachment:#}");
    let (_, address) = shown.files().remove(0);
    assert_eq!(hall.discord.file(&address).and_then(|it| files::size_of(&it)), Some(SMALL));
    // He tells of it, in a turn of its own.
    studio.chat.answers(3).await;
    studio.dora.wait_until_heard(bot, BOUND).await.unwrap();
    studio.dora.wait_for_silence(bot, QUIET, BOUND).await.unwrap();
    let requests = studio.chat.requests();
    let told = requests.last().and_then(last_message).unwrap();
    assert!(told["role"] == "tool" && told.to_string().contains(ALT), "{told:#}");

    let is_prompt = |it: &Message| it.text().contains(PROMPT);
    hall.discord.wait_for_message(log, BOUND, is_prompt).await.unwrap();
    let public = studio.public();
    assert!(public.iter().all(|it| !has_said(it, PROMPT)), "{public:#?}");
    studio.hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn x_card_withdraws_a_picture_on_its_way() {
    let studio = Studio::new().await;
    let (hall, bot) = (&studio.hall, studio.hall.discord.bot());
    let anna = hall.inn.add_member("Anna", &[]);
    studio.asks().await;
    let asked = studio.chat.requests().len();
    let card = hall.told(&anna, Slash::new("xcard")).await;
    assert!(card.contains("No player learns"), "{card}");
    hall.reads(|it| it.content().contains("An X-card was held up.")).await;
    studio.go.notify_one();
    studio.images.over(1).await;
    // Later turns are heard; the picture is neither mentioned nor shown.
    hall.told(&hall.dm, Slash::new("npc unmuteall")).await;
    let line = "Sit down and listen, all of you, while I tell you of the river.";
    let speak = Slash::new("npc speak").option("name", "Bartok").option("text", line);
    hall.told(&hall.dm, speak).await;
    studio.dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    studio.dora.wait_for_silence(bot, QUIET, BOUND).await.unwrap();
    for message in studio.public() {
        assert!(message.files().is_empty(), "{}", message.text());
        assert!(!has_said(&message, PROMPT) && !has_said(&message, ALT), "{}", message.text());
    }
    assert_eq!(studio.chat.requests().len(), asked, "no model is asked about it");
    studio.hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn x_card_deletes_a_picture_that_is_being_sent() {
    let studio = Studio::new().await;
    let hall = &studio.hall;
    let anna = hall.inn.add_member("Anna", &[]);
    studio.asks().await;
    let late = Fault::Late(Duration::from_secs(5));
    hall.discord.fail("POST", "/messages", late, 1);
    studio.go.notify_one();
    hall.reads(|it| !it.files().is_empty()).await;
    hall.told(&anna, Slash::new("xcard")).await;
    let deleted = async {
        while studio.public().iter().any(|it| !it.files().is_empty()) {
            hall.told(&hall.dm, Slash::new("session status")).await;
        }
    };
    tokio::time::timeout(BOUND, deleted).await.expect("the picture is deleted");
    studio.hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn prompt_without_a_log_channel_is_not_shown() {
    let studio = Studio::new().await;
    studio.asks().await;
    studio.go.notify_one();
    studio.hall.reads(|it| !it.files().is_empty()).await;
    studio.hall.reads(|it| it.text().contains("choose a log channel")).await;
    let public = studio.public();
    assert!(public.iter().all(|it| !has_said(it, PROMPT)), "{public:#?}");
    studio.hall.ends();
}

#[tokio::test(flavor = "multi_thread")]
async fn picture_of_an_ended_session_is_not_shown() {
    let studio = Studio::new().await;
    let hall = &studio.hall;
    studio.asks().await;
    let stopped = hall.told(&hall.dm, Slash::new("session stop")).await;
    assert!(stopped.contains("The session is over."), "{stopped}");
    studio.go.notify_one();
    studio.images.over(1).await;
    hall.told(&hall.dm, Slash::new("tools list")).await;
    assert!(studio.public().iter().all(|it| it.files().is_empty()), "{:#?}", studio.public());
    studio.hall.ends();
}
