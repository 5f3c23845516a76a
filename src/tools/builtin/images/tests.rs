//! Pictures of a stand-in service.

use std::sync::{
    Mutex,
    atomic::{AtomicU64, Ordering},
};

use futures::future::ready;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    domain::{CampaignKey, Scope, SessionId, TurnId},
    tools::{Authority, Caller, Effects, OfferedNames, Payment, Payments, Progress, Taint},
};

/// Answers each request so, and says what it was asked for.
struct Painter {
    answer: Result<(), NoPicture>,
    price: Option<&'static str>,
    asked: Mutex<Vec<String>>,
    table: Arc<Table>,
    /// An X-card is used while it draws.
    halts: bool,
}

impl ImageModel for Painter {
    fn priced_as(&self) -> Option<&str> {
        self.price
    }

    fn generate(&self, request: ImageRequest) -> BoxFuture<'static, Result<Picture, NoPicture>> {
        self.asked.lock().expect("no test panics").push(request.prompt);
        if self.halts {
            self.table.halts.fetch_add(1, Ordering::Relaxed);
        }
        let used = Consumption { pictures: 1, ..Consumption::default() };
        let picture = Picture { bytes: Arc::from(*b"png"), mime: "image/png", used };
        ready(self.answer.clone().map(|()| picture)).boxed()
    }
}

/// Records the notices for the game master.
#[derive(Default)]
struct Table {
    halts: AtomicU64,
    told: Mutex<Vec<String>>,
}

impl Effects for Table {
    fn show(&self, text: &str) {
        panic!("the table is shown {text}");
    }

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }

    fn tell_dm(&self, text: &str) {
        self.told.lock().expect("no test panics").push(text.to_owned());
    }

    fn halts(&self) -> u64 {
        self.halts.load(Ordering::Relaxed)
    }
}

/// Counts what is settled, given back and dropped.
#[derive(Default)]
struct Till {
    ends: Mutex<Vec<String>>,
}

struct Paid(Arc<Till>);

impl Paid {
    fn ends(&self, how: String) {
        self.0.ends.lock().expect("no test panics").push(how);
    }
}

impl Payment for Paid {
    fn settle(self: Box<Self>, used: Consumption) {
        self.ends(format!("settled {}", used.pictures));
    }

    fn unused(self: Box<Self>) {
        self.ends("unused".to_owned());
    }

    fn failed(self: Box<Self>, kind: Kind) {
        self.ends(format!("failed {kind:?}"));
    }

    fn attempts(&self) -> crate::provider::Attempts {
        crate::provider::Attempts::default()
    }
}

struct Pays(Arc<Till>);

impl Payments for Pays {
    fn reserve(
        &self,
        service: &str,
        most: Consumption,
    ) -> BoxFuture<'static, Result<Box<dyn Payment>, CallError>> {
        assert_eq!((service, most.pictures), ("painter", 1));
        ready(Ok(Box::new(Paid(Arc::clone(&self.0))) as Box<dyn Payment>)).boxed()
    }
}

struct Stage {
    painter: Arc<Painter>,
    table: Arc<Table>,
    till: Arc<Till>,
}

impl Stage {
    fn new(answer: Result<(), NoPicture>, halts: bool) -> Self {
        let (table, till) = (Arc::new(Table::default()), Arc::new(Till::default()));
        let painter = Painter {
            answer,
            price: Some("painter"),
            asked: Mutex::default(),
            table: Arc::clone(&table),
            halts,
        };
        Self { painter: Arc::new(painter), table, till }
    }

    async fn call(&self, arguments: Value, is_paid: bool) -> Result<CallOutput, CallError> {
        let pays = Arc::new(Pays(Arc::clone(&self.till))) as Arc<dyn Payments>;
        let caller = Caller {
            npc: "Greymantle".into(),
            tier: Tier::Deep,
            offered: Arc::new(OfferedNames::default()),
            sampler: None,
            payments: is_paid.then_some(pays),
        };
        let context = CallContext {
            scope: Scope::local(CampaignKey("c".to_owned())),
            session: SessionId("s".to_owned()),
            turn: TurnId(1),
            authority: Authority::OperatorAs(caller),
            speaker: Arc::from("Anna"),
            by: None,
            deadline: Instant::now() + Tier::Deep.ceiling(),
            fresh: false,
            taint: Taint::default(),
            progress: Progress::default(),
            span: Default::default(),
            cancel: CancellationToken::new(),
            effects: Arc::clone(&self.table) as Arc<dyn Effects>,
        };
        let unwanted = vec!["big spiders".to_owned(), "血".to_owned()];
        let images = Images::new(Arc::clone(&self.painter) as Arc<dyn ImageModel>, unwanted);
        let arguments = arguments.as_object().expect("an object").clone();
        images.call(&context, &arguments).await
    }

    fn told(&self) -> Vec<String> {
        self.table.told.lock().expect("no test panics").clone()
    }

    fn ends(&self) -> Vec<String> {
        self.till.ends.lock().expect("no test panics").clone()
    }
}

#[tokio::test]
async fn picture_is_captioned_without_its_prompt() {
    let stage = Stage::new(Ok(()), false);
    let asked = json!({"prompt": " a ring\u{200b}\nwith a hidden blade ", "style": "ink sketch"});
    let output = stage.call(asked, true).await.expect("a picture");
    let attachment = output.attachments().next().expect("one picture");
    let caption = attachment.caption.as_ref().expect("a caption");
    assert_eq!((&*caption.by, &*caption.alt), ("Greymantle", "A picture from Greymantle"));
    assert!(!output.for_model().contains("blade"), "{}", output.for_model());
    let prompts = stage.painter.asked.lock().expect("no test panics").clone();
    assert_eq!(prompts, ["a ring with a hidden blade\nStyle: ink sketch"]);
    assert!(stage.told().iter().any(|it| it.contains("hidden blade")), "{:?}", stage.told());
    assert_eq!(stage.ends(), ["settled 1"]);
}

#[tokio::test]
async fn keys_leave_in_no_picture_and_no_caption() {
    let (begin, end) = ("sk-proj-", "0123456789abcdefgh");
    let known = "raven-under-the-mill-4711";
    redact::keep_secret(known);
    let stage = Stage::new(Ok(()), false);
    let asked = json!({
        "prompt": format!("a door that says {begin}\u{200b}{end}"),
        "style": format!("ink, {known}"),
        "alt": format!("A door: {begin}{end}"),
    });
    let output = stage.call(asked, true).await.expect("a picture");
    let prompts = stage.painter.asked.lock().expect("no test panics").clone();
    assert_eq!(prompts, ["a door that says <secret>\nStyle: ink, <secret>"]);
    let caption = output.attachments().next().and_then(|it| it.caption.clone());
    assert_eq!(caption.map(|it| it.alt).as_deref(), Some("A door: <secret>"));
    let told = stage.told().concat();
    assert!(told.contains("a door that says") && !told.contains(end), "{told}");
}

#[tokio::test]
async fn model_may_describe_the_picture() {
    let stage = Stage::new(Ok(()), false);
    let asked = json!({"prompt": "a ring", "alt": "A plain silver ring."});
    let output = stage.call(asked, true).await.expect("a picture");
    let value = output.structured.expect("a value");
    assert_eq!(value, json!({"shown": true, "alt": "A plain silver ring."}));
}

#[tokio::test]
async fn x_card_withdraws_a_picture() {
    let stage = Stage::new(Ok(()), true);
    let error = stage.call(json!({"prompt": "a ring"}), true).await.expect_err("withdrawn");
    assert_eq!(error.kind, CallErrorKind::Cancelled);
    assert_eq!(stage.ends(), ["settled 1"], "it was made all the same");
    let failed = Error::new(Kind::Unavailable, "'http://x': the service failed");
    let stage = Stage::new(Err(failed.into()), true);
    let error = stage.call(json!({"prompt": "a ring"}), true).await.expect_err("withdrawn");
    assert_eq!(error.kind, CallErrorKind::Cancelled, "nobody tells of a failure either");
    assert_eq!(stage.ends(), ["failed Unavailable"]);
}

#[tokio::test]
async fn refusal_is_an_error_of_the_tool() {
    let refused = NoPicture::Refused { why: "IMAGE_SAFETY".into(), used: Consumption::default() };
    let stage = Stage::new(Err(refused), false);
    let error = stage.call(json!({"prompt": "a ring"}), true).await.expect_err("refused");
    assert_eq!(error.kind, CallErrorKind::Tool);
    assert_eq!(stage.ends(), ["settled 0"]);
}

#[tokio::test]
async fn image_failure_details_reach_only_game_master() {
    let failed = Error::new(Kind::Unauthorized, "'http://x': the key was refused");
    let stage = Stage::new(Err(failed.into()), false);
    let error = stage.call(json!({"prompt": "a ring"}), true).await.expect_err("no picture");
    assert!(!error.message.contains("http"), "{error}");
    assert!(stage.told().iter().any(|it| it.contains("the key was refused")));
    assert_eq!(stage.ends(), ["failed Unauthorized"]);
}

#[tokio::test]
async fn unpaid_and_empty_prompts_send_no_request() {
    let stage = Stage::new(Ok(()), false);
    let error = stage.call(json!({"prompt": "a ring"}), false).await.expect_err("unpaid");
    assert_eq!(error.kind, CallErrorKind::Policy);
    let empty = stage.call(json!({"prompt": " \u{200b} "}), true).await.expect_err("empty");
    assert_eq!(empty.kind, CallErrorKind::InvalidArguments);
    assert!(stage.painter.asked.lock().expect("no test panics").is_empty());
    assert_eq!(stage.ends(), Vec::<String>::new());
}

#[tokio::test]
async fn unwanted_topics_are_not_drawn() {
    let stage = Stage::new(Ok(()), false);
    let asked = json!({"prompt": "A cellar; a big spider sits on the chest"});
    let refused = stage.call(asked, true).await.expect_err("a line of the table");
    assert_eq!(refused.kind, CallErrorKind::Tool);
    assert!(stage.painter.asked.lock().expect("no test panics").is_empty());
    assert_eq!(stage.told(), ["no picture for Greymantle: 'big spiders' is among lines_and_veils"]);
    let without_words = stage.call(json!({"prompt": "A wall with 血 on it"}), true).await;
    assert!(without_words.is_err(), "{without_words:?}");
    let shown = json!({"prompt": "A cellar", "alt": "A big spider on a chest."});
    let refused = stage.call(shown, true).await.expect_err("players read it");
    assert_eq!(refused.kind, CallErrorKind::Tool);
    let other = stage.call(json!({"prompt": "A cellar with a big chest"}), true).await;
    assert!(other.is_ok(), "{other:?}");
}

#[tokio::test]
async fn free_picture_needs_nobody_who_pays() {
    let mut stage = Stage::new(Ok(()), false);
    Arc::get_mut(&mut stage.painter).expect("it is not shared yet").price = None;
    let shown = stage.call(json!({"prompt": "a ring"}), false).await;
    assert!(shown.is_ok(), "{shown:?}");
    assert_eq!(stage.ends(), Vec::<String>::new());
}
