//! Requests to two stand-ins, in paused time: which one answers, and what is paid.

use std::sync::Arc;

use tokio::time::Instant;

use super::*;
use crate::{
    domain::{Message, ToolChoice},
    engine::{
        budget::Budget,
        tests::props::{
            Model,
            Step::{self, Fail, Stall, Text, Usage, Wait},
            ms, npc,
        },
    },
    logic::budget::{BudgetOptions, Ledger, Price},
    provider::{Attempts, ChatEvent},
};

/// Answers needed before the usual wait is known.
const MEASURED: usize = 20;
/// An answer of five tokens whose first word takes a moment.
const SOON: [Step; 3] = [Wait(10), Text("Aye."), Usage(9, 5)];
/// Times out after 3 s.
const LATE: [Step; 2] = [Wait(3_000), Fail(Kind::Timeout)];

/// The first model is preferred.
struct Two {
    first: Arc<Model>,
    second: Arc<Model>,
    models: Chain<dyn ChatModel>,
    budget: Budget,
}

struct Answered {
    by: String,
    text: String,
    /// It stopped in the middle.
    broke: Option<Kind>,
}

impl Two {
    fn new(is_hedged: bool) -> Self {
        Self::paid(is_hedged, None, None)
    }

    /// With a price of 1000 per million, the longest answer costs 0.10.
    fn paid(is_hedged: bool, price: Option<&'static str>, cap: Option<f64>) -> Self {
        let model = || Arc::new(Model { price, ..Model::default() });
        let (first, second) = (model(), model());
        let candidate = |name: &str, model: &Arc<Model>| {
            Candidate::<dyn ChatModel>::new(name, Arc::clone(model) as _, Arc::default())
        };
        let others = vec![candidate("second", &second)];
        let models = Chain::new(candidate("first", &first), others, is_hedged);
        let prices = [("m".to_owned(), Price { output: 1_000.0, ..Price::default() })].into();
        let options = BudgetOptions { session_max: cap, prices, ..BudgetOptions::default() };
        Self { first, second, models, budget: Budget::new(Ledger::new(options, 0.0)) }
    }

    /// Scripts the first model: `MEASURED` quick answers, then `script` `times` times.
    fn first_turns(&self, script: &[Step], times: usize) {
        for _ in 0..MEASURED {
            self.first.then(&SOON);
        }
        for _ in 0..times {
            self.first.then(script);
        }
    }

    async fn ask(&self) -> Result<Answered, Error> {
        let payer = Payer { npc: Arc::new(npc("Bartok")), budget: self.budget.clone() };
        let request = ChatRequest {
            messages: vec![Message::User("hello".into())],
            tools: Arc::from([]),
            tool_choice: ToolChoice::Auto,
            max_tokens: 100,
            facts: Arc::default(),
            attempts: Attempts::default(),
        };
        let mut answering = Asking::new(&self.models, payer, request, 100).answer().await?;
        let (by, mut text, mut broke) = (answering.name().to_string(), String::new(), None);
        while let Some(event) = answering.next().await {
            match event {
                Ok(ChatEvent::Text(more)) => text.push_str(&more),
                Ok(_) => {}
                Err(error) => broke = Some(error.kind()),
            }
        }
        answering.settle();
        Ok(Answered { by, text, broke })
    }

    /// Name of the model that answers.
    async fn answers(&self) -> String {
        self.ask().await.expect("an answer").by
    }

    /// Number of requests to each.
    fn asked(&self) -> (usize, usize) {
        (self.first.asked(), self.second.asked())
    }
}

/// True if the service may send request `index` again.
fn are_several(model: &Model, index: usize) -> bool {
    model.requests.lock().unwrap()[index].attempts.are_several()
}

#[tokio::test(start_paused = true)]
async fn next_model_answers_for_a_failed_one() {
    for kind in [
        Kind::Missing,
        Kind::Unauthorized,
        Kind::RateLimited { retry_after: None },
        Kind::RateLimited { retry_after: Some(ms(1_000)) },
        Kind::Crowded { retry_after: None },
        Kind::Timeout,
        Kind::Unreachable,
        Kind::Unavailable,
        Kind::Interrupted,
        Kind::Protocol,
    ] {
        let two = Two::new(false);
        two.first.then(&[Fail(kind)]);
        let answered = two.ask().await.unwrap();
        assert_eq!((answered.by.as_str(), answered.text.as_str()), ("second", "Well met."));
        assert_eq!((two.asked(), answered.broke), ((1, 1), None), "{kind:?}");
        assert!(!are_several(&two.first, 0), "{kind:?}: another is asked instead");
        assert!(are_several(&two.second, 0), "{kind:?}: nobody else is left");
    }
}

#[tokio::test(start_paused = true)]
async fn wrong_request_is_wrong_everywhere() {
    for kind in [Kind::InvalidRequest, Kind::OverBudget] {
        let two = Two::new(false);
        two.first.then(&[Fail(kind)]);
        let error = two.ask().await.err().expect("no answer");
        assert_eq!((error.kind(), two.asked()), (kind, (1, 0)));
        assert!(error.to_string().starts_with("first: "), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn begun_answer_is_not_continued_by_the_next() {
    let two = Two::new(false);
    two.first.then(&[Text("Sit down. The"), Fail(Kind::Interrupted)]);
    let answered = two.ask().await.unwrap();
    assert_eq!((answered.by.as_str(), answered.text.as_str()), ("first", "Sit down. The"));
    assert_eq!((answered.broke, two.asked()), (Some(Kind::Interrupted), (1, 0)));
}

#[tokio::test(start_paused = true)]
async fn error_of_all_names_each() {
    let two = Two::new(false);
    two.first.then(&[Fail(Kind::Timeout)]);
    two.second.then(&[Fail(Kind::Unavailable)]);
    let error = two.ask().await.err().expect("no answer");
    assert_eq!((error.kind(), two.asked()), (Kind::Unavailable, (1, 1)));
    assert_eq!(error.to_string(), "first: secret error text; second: secret error text");
}

#[tokio::test(start_paused = true)]
async fn model_with_retry_after_is_not_asked() {
    let two = Two::new(false);
    two.first.then(&[Fail(Kind::RateLimited { retry_after: Some(ms(100_000)) })]);
    for _ in 0..4 {
        assert_eq!(two.answers().await, "second");
    }
    assert_eq!(two.asked(), (1, 4));
}

#[tokio::test(start_paused = true)]
async fn model_failing_three_times_is_paused() {
    let two = Two::new(false);
    for _ in 0..7 {
        two.first.then(&[Fail(Kind::Unavailable)]);
        assert_eq!(two.answers().await, "second");
    }
    assert_eq!(two.asked(), (3, 7));
}

#[tokio::test(start_paused = true)]
async fn late_first_has_the_next_asked_too() {
    let two = Two::new(true);
    two.first_turns(&[Stall], 1);
    two.second.then(&SOON);
    for _ in 0..MEASURED {
        assert_eq!(two.answers().await, "first");
    }
    let begun = Instant::now();
    assert_eq!(two.answers().await, "second");
    let waited = begun.elapsed();
    assert!((ms(20)..ms(25)).contains(&waited), "{waited:?}: both usual waits");
    assert_eq!((two.asked(), two.first.live.count()), ((MEASURED + 1, 1), 0));
}

#[tokio::test(start_paused = true)]
async fn without_hedging_the_first_is_waited_for() {
    let two = Two::new(false);
    two.first_turns(&LATE, 1);
    for _ in 0..MEASURED {
        assert_eq!(two.answers().await, "first");
    }
    let begun = Instant::now();
    assert_eq!(two.answers().await, "second");
    assert!(begun.elapsed() >= ms(3_000), "{:?}", begun.elapsed());
    assert_eq!(two.asked(), (MEASURED + 1, 1));
}

/// 5,000 tokens cost 5; an answer without a count at most 0.10.
#[tokio::test(start_paused = true)]
async fn counted_answer_is_not_booked_for_less() {
    const COUNTED: Step = Usage(9, 5_000);
    for script in [
        &[Text("Aye."), COUNTED, Usage(0, 0)][..],
        &[COUNTED, Text("Aye."), Usage(0, 0), Fail(Kind::Interrupted)],
        &[COUNTED, Usage(0, 0), Fail(Kind::Unavailable)],
        &[COUNTED, Fail(Kind::RateLimited { retry_after: None })],
    ] {
        let two = Two::paid(false, Some("m"), None);
        two.first.then(script);
        two.ask().await.unwrap();
        let spent = two.budget.spent();
        assert!((5.0..5.2).contains(&spent), "{spent} booked for {script:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn cut_answer_with_count_is_booked_in_full() {
    let two = Two::paid(false, Some("m"), None);
    two.first.then(&[Usage(9, 1), Text("Aye."), Fail(Kind::Interrupted)]);
    two.ask().await.unwrap();
    assert!((two.budget.spent() - 0.1).abs() < 1e-9, "{}", two.budget.spent());
}

/// Both are paid for before either is asked.
#[tokio::test(start_paused = true)]
async fn two_at_once_stay_below_the_cap() {
    let two = Two::paid(true, Some("m"), Some(0.65));
    two.first_turns(&LATE, 8);
    let mut refused = None;
    for _ in 0..MEASURED + 8 {
        two.second.then(&[Text("Aye."), Usage(9, 100)]);
        refused = two.ask().await.err();
        if refused.is_some() {
            break;
        }
    }
    assert_eq!(refused.map(|error| error.kind()), Some(Kind::OverBudget));
    let (first, second) = two.asked();
    let billed = 0.005 * MEASURED as f64 + 0.1 * (first - MEASURED + second) as f64;
    assert!(second >= 2, "two were asked at once");
    assert!(billed <= 0.65 + 1e-9, "{billed} billed under a cap of 0.65");
}
