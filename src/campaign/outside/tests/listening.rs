//! Listening to the table.

use tokio::{
    join,
    time::{Instant, sleep},
};

use super::{Evening, line};
use crate::{
    campaign::outside::ListenUntil,
    engine::tests::props::{Step, ms},
    session::{
        Command,
        tests::stage::{ELARA, THORIN},
    },
};

#[tokio::test(start_paused = true)]
async fn utterance_is_told_before_it_is_answered() {
    let evening = Evening::new().await;
    evening.program.model.then(&[Step::Wait(5_000), Step::Text("Well met.")]);
    let began = Instant::now();
    let types = async {
        sleep(ms(200)).await;
        evening.types(THORIN, "Bartok, good evening").await;
    };
    let (lines, ()) = join!(evening.listens(ListenUntil::Utterance, 60), types);
    assert_eq!(lines, [line("Thorin", None, "Bartok, good evening")]);
    assert!(began.elapsed() < ms(1_000), "{:?}", began.elapsed());
    let rest = evening.listens(ListenUntil::Silence, 60).await;
    assert_eq!(rest, [line("Bartok", Some("Bartok"), "Well met.")]);
    assert!(began.elapsed() < ms(20_000), "{:?}", began.elapsed());
    evening.close().await;
}

#[tokio::test(start_paused = true)]
async fn withdrawn_words_are_not_listened_to() {
    let evening = Evening::new().await;
    let plays = async {
        evening.types(THORIN, "I hate spiders").await;
        evening.types(ELARA, "So do I").await;
        evening.order(Command::Forget(THORIN)).await;
    };
    let (lines, ()) = join!(evening.listens(ListenUntil::Time, 5), plays);
    assert_eq!(lines, [line("Elara", None, "So do I")]);
    let plays = async {
        evening.types(ELARA, "Bartok, tell me of spiders").await;
        sleep(ms(2_000)).await;
        evening.types(ELARA, "X-card").await;
        evening.types(ELARA, "Thank you all").await;
    };
    let (lines, ()) = join!(evening.listens(ListenUntil::Time, 5), plays);
    assert_eq!(lines, [line("Elara", None, "Thank you all")]);
    evening.close().await;
}
