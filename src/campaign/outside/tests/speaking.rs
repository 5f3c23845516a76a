//! Lines that programs order.

use futures::{
    FutureExt,
    future::{BoxFuture, join_all, pending},
};
use tokio::{
    join,
    time::{Instant, sleep, timeout},
};

use super::{BOUND, Evening, WantedLine, next_outcome, to_say};
use crate::{
    domain::Owner,
    engine::tests::props::ms,
    session::{Command, Outcome, SeatId},
};

#[tokio::test(start_paused = true)]
async fn words_are_answered_once_they_were_heard() {
    let evening = Evening::new().await;
    let began = Instant::now();
    let said = evening.says("Good evening.").await;
    let wanted = ("Bartok", "spoken", "Good evening.");
    assert_eq!((said.npc.as_str(), said.how, said.heard.as_str()), wanted);
    assert_eq!((said.why, said.sound), (None, None));
    assert!(began.elapsed() >= ms(900), "{:?}", began.elapsed());
    let (outside, table) = (&evening.program.handles.outside, Some(evening.session.0.as_str()));
    let aye = WantedLine { table, npc: Some("Gundren"), ..to_say("Aye.") };
    let said = outside.speak(aye).await.unwrap();
    assert_eq!((said.npc.as_str(), said.how), ("Gundren", "spoken"));
    let answer = outside.ask(Owner::Local, None, "Bartok", "How are you?").await.unwrap();
    assert_eq!((answer.how, answer.heard.as_str()), ("spoken", "Well met."));
    evening.order(Command::Mute { seat: Some(SeatId(0)), muted: true }).await;
    let muted = evening.says("Good night.").await;
    assert!(muted.how == "not_said" && muted.why.unwrap().contains("muted"));
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn interrupted_words_end_where_they_were_heard() {
    let evening = Evening::new().await;
    let skips = async {
        sleep(ms(1_500)).await;
        evening.order(Command::Skip).await;
    };
    let (said, ()) = join!(evening.says("The first. The second. The third."), skips);
    assert_eq!(said.how, "interrupted");
    assert!(said.heard.starts_with("The first.") && !said.heard.contains("third"), "{said:?}");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn x_card_ends_words_and_is_not_ended_by_them() {
    let evening = Evening::new().await;
    let cards = async {
        sleep(ms(500)).await;
        evening.order(Command::Halt).await;
    };
    let (said, ()) = join!(evening.says("The first. The second."), cards);
    assert_eq!((said.how, said.heard.as_str()), ("x_card", ""));
    let again = evening.says("The third.").await;
    assert_eq!(again.how, "x_card");
    assert!(again.why.is_some_and(|why| why.contains("game master")));
    let asked = evening.program.handles.outside.ask(Owner::Local, None, "Bartok", "Well?").await;
    assert_eq!(asked.unwrap().how, "x_card");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn dropped_call_silences_its_npc() {
    let evening = Evening::new().await;
    let mut events = evening.link().events().unwrap();
    let outside = &evening.program.handles.outside;
    let said = outside.speak(to_say("The first. The second."));
    assert!(timeout(ms(500), said).await.is_err());
    let ended = next_outcome(&mut events);
    assert_eq!(timeout(ms(300), ended).await, Ok(Outcome::Interrupted));
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn line_not_waited_for_goes_on_until_its_end() {
    let evening = Evening::new().await;
    let mut events = evening.link().events().unwrap();
    let outside = &evening.program.handles.outside;
    let begins = async |until: BoxFuture<'static, ()>| {
        let began = Instant::now();
        let wanted = to_say("The first. The second. The third.");
        let said = outside.begin_speaking(wanted, until).await.expect("it begins");
        assert!(said.heard.is_empty() && began.elapsed() < ms(100), "{said:?}");
        said.how
    };
    assert_eq!(begins(pending().boxed()).await, "begun");
    assert_eq!(next_outcome(&mut events).await, Outcome::Spoken);
    assert_eq!(begins(sleep(ms(1_500)).boxed()).await, "begun");
    assert_eq!(next_outcome(&mut events).await, Outcome::Interrupted, "its token has ended");
    assert_eq!(begins(pending().boxed()).await, "begun");
    sleep(ms(1_500)).await;
    outside.close().await;
    assert_eq!(next_outcome(&mut events).await, Outcome::Interrupted, "the listener has ended");
    evening.order(Command::Halt).await;
    assert_eq!(begins(pending().boxed()).await, "x_card");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn lines_at_once_are_each_answered() {
    let evening = Evening::new().await;
    let all = async {
        join!(evening.says("The first."), evening.says("The second."), evening.says("The third."))
    };
    let (first, second, third) = timeout(BOUND, all).await.expect("they end");
    for (said, text) in [(first, "The first."), (second, "The second."), (third, "The third.")] {
        assert_eq!((said.how, said.heard.as_str()), ("spoken", text));
    }
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn same_words_twice_end_each_on_their_own() {
    let evening = Evening::new().await;
    let outside = &evening.program.handles.outside;
    let began = Instant::now();
    let says = async |by: &str| {
        let caller = outside.for_program(by);
        let said = caller.speak(to_say("Good evening.")).await.unwrap();
        (said.how, began.elapsed())
    };
    let both = async { join!(says("a1b2c3d4"), says("a1b2c3d4")) };
    let (first, second) = timeout(BOUND, both).await.expect("they end");
    assert_eq!((first.0, second.0), ("spoken", "spoken"));
    assert!(second.1 >= first.1 + ms(900), "{first:?} {second:?}");
    let withdrawn = async { timeout(ms(1_800), says("a1b2c3d4")).await };
    let (whole, withdrawn) = join!(says("a1b2c3d4"), withdrawn);
    assert_eq!(whole.0, "spoken");
    assert!(withdrawn.is_err(), "it has not ended with the other");
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn line_given_up_is_answered_at_once() {
    let evening = Evening::new().await;
    let began = Instant::now();
    let mutes = async {
        sleep(ms(500)).await;
        evening.order(Command::Mute { seat: Some(SeatId(0)), muted: true }).await;
    };
    let (first, second, ()) = join!(evening.says("The first."), evening.says("The second."), mutes);
    assert_eq!(second.how, "not_said", "{first:?}");
    assert!(began.elapsed() < ms(1_000), "{:?}", began.elapsed());
    let all = async {
        evening.order(Command::Mute { seat: None, muted: false }).await;
        join_all((0..10).map(|_| evening.says("The first."))).await
    };
    let said: Vec<_> = all.await.into_iter().map(|said| said.how).collect();
    assert_eq!(said.iter().filter(|how| **how == "not_said").count(), 1, "{said:?}");
    evening.close().await;
}
