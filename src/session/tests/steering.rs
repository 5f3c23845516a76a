//! Orders of the game master by command, and the table's status.

use tokio::{sync::oneshot, time::sleep};

use super::{
    super::{Command, Outcome, SceneChange, SeatId, Speaker, SpeakerId, State, Status, TableEvent},
    stage::{DM, ELARA, MIRA, Setup, Stage, THORIN, Told, voiced},
    voices::{Said, babble},
};
use crate::{
    domain::{Campaign, Person, PersonId, Player, Scene, Tier},
    engine::tests::props::{Step::*, ms},
    provider::Kind,
};

async fn status(stage: &Stage) -> Status {
    let (ask, answer) = oneshot::channel();
    stage.order(Command::Status(ask)).await;
    answer.await.expect("the table is open")
}

fn set_tier(seat: Option<SeatId>, tier: Option<Tier>) -> Command {
    Command::SetTier { seat, tier, until: None }
}

/// Effective tiers of the lines since the last call.
async fn tiers(stage: &mut Stage) -> Vec<Tier> {
    stage.settle().await;
    stage.lines().into_iter().filter_map(|line| line.tier).map(|tier| tier.effective).collect()
}

#[tokio::test(start_paused = true)]
async fn npc_tier_overrides_the_tier_for_all() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(THORIN, "Gundren, hello").await;
    tiers(&mut stage).await;
    stage.order(set_tier(None, Some(Tier::Deep))).await;
    stage.order(set_tier(Some(SeatId(1)), Some(Tier::Standard))).await;
    let ask = async |stage: &mut Stage| {
        stage.types(THORIN, "Bartok, hello").await;
        stage.types(THORIN, "Gundren, hello").await;
        tiers(stage).await
    };
    assert_eq!(ask(&mut stage).await, [Tier::Deep, Tier::Standard]);
    let status = status(&stage).await;
    assert_eq!(status.seats[0].override_, Some((Tier::Deep, None)));
    assert_eq!(status.seats[1].override_, Some((Tier::Standard, None)));
    let last = status.seats[1].last_selection.clone().unwrap();
    assert_eq!(last.reason, "game master's override; else default");
    stage.order(set_tier(Some(SeatId(1)), None)).await;
    assert_eq!(ask(&mut stage).await, [Tier::Deep, Tier::Deep]);
    stage.order(set_tier(Some(SeatId(1)), Some(Tier::Standard))).await;
    stage.order(set_tier(None, None)).await;
    assert_eq!(ask(&mut stage).await, [Tier::Fast, Tier::Fast]);
    stage.order(set_tier(Some(SeatId(7)), Some(Tier::Deep))).await;
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn rapid_exchange_is_fast_before_first_word() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let mut selected = Vec::new();
    for _ in 0..3 {
        stage.models[0].then(&[Fail(Kind::Unreachable)]);
        stage.types(THORIN, "Bartok, hello").await;
        selected.extend(tiers(&mut stage).await);
    }
    assert_eq!(selected, [Tier::Standard, Tier::Standard, Tier::Fast], "it has not spoken yet");
    sleep(ms(10_000)).await;
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(tiers(&mut stage).await, [Tier::Standard], "the exchange is over");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn tier_change_reaches_queued_and_early_answers() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.until_heard().await;
    let until = Some(tokio::time::Instant::now() + ms(60_000));
    stage.order(Command::SetTier { seat: Some(SeatId(0)), tier: Some(Tier::Deep), until }).await;
    assert_eq!(tiers(&mut stage).await, [Tier::Standard, Tier::Deep]);
    // The guess had another tier: restarted.
    stage.hears(&[(20, "Bartok, more")], "Bartok, more");
    stage.voice(THORIN, ms(1_000)).await;
    stage.quiet(THORIN, ms(400)).await;
    let asked = stage.models[0].asked();
    assert_eq!(asked, 3, "the model was asked ahead");
    stage.order(set_tier(Some(SeatId(0)), Some(Tier::Standard))).await;
    stage.quiet(THORIN, ms(400)).await;
    assert_eq!(tiers(&mut stage).await, [Tier::Standard]);
    assert_eq!(stage.models[0].asked(), 4);
    let until = Some(tokio::time::Instant::now() + ms(60_000));
    stage.order(Command::SetTier { seat: None, tier: Some(Tier::Deep), until }).await;
    stage.order(set_tier(Some(SeatId(0)), None)).await;
    let left = status(&stage).await.seats[0].override_.and_then(|(_, left)| left);
    assert_eq!(left, Some(ms(60_000)));
    sleep(ms(60_001)).await;
    stage.types(THORIN, "Bartok, and more").await;
    assert_eq!(tiers(&mut stage).await, [Tier::Fast]);
    assert_eq!(status(&stage).await.seats[0].override_, None);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn x_card_stops_all_npcs_anonymously() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.types(DM, "Gundren, hello").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.until_heard().await;
    let ordered = stage.opened.elapsed();
    stage.types(ELARA, "X-card!").await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    let events = stage.events();
    assert!(events.iter().any(|event| matches!(event, TableEvent::Halted { .. })));
    let lines: Vec<_> = events
        .into_iter()
        .filter_map(|event| match event {
            TableEvent::Line(line) => Some(std::sync::Arc::unwrap_or_clone(line)),
            _ => None,
        })
        .collect();
    assert!(lines.iter().all(|line| line.outcome != Outcome::Spoken), "{lines:#?}");
    let card = lines.iter().find(|line| line.outcome == Outcome::Stopped).unwrap();
    assert_eq!((card.speaker.as_str(), card.understood.as_str()), ("somebody", "X-card!"));
    assert_eq!(
        lines.last().unwrap().detail.as_deref(),
        Some(
            "an X-card has muted everyone (the game master says \"everyone continue\" or uses \
             /npc unmuteall)"
        )
    );
    assert!(stage.heard("Bartok").unwrap().last <= ordered);
    assert!(stage.heard("Gundren").is_none());
    assert!(status(&stage).await.seats.iter().all(|seat| seat.muted));
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.types(THORIN, "Bartok, hello").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn card_typed_in_a_sentence_stops_all_npcs() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    stage.types(ELARA, "Gundren, what does the X card do?").await;
    stage.settle().await;
    assert!(!stage.events().iter().any(|event| matches!(event, TableEvent::Halted { .. })));
    let text = "I'd rather use the X card here, can we skip the spiders?".to_owned();
    stage.order(Command::TypedTo { speaker: ELARA, seat: SeatId(0), text }).await;
    stage.settle().await;
    let events = stage.events();
    assert!(!format!("{events:?}").contains("spiders"), "{events:#?}");
    assert_eq!(taken_back(events), [2]);
    assert!(status(&stage).await.seats.iter().all(|seat| seat.muted));
    stage.close().await;
}

/// Turns taken back, by number.
fn taken_back(events: Vec<TableEvent>) -> Vec<u64> {
    let halted = |event| match event {
        TableEvent::Halted { taken_back } => Some(taken_back),
        _ => None,
    };
    events.into_iter().find_map(halted).unwrap()
}

#[tokio::test(start_paused = true)]
async fn x_card_takes_back_only_the_last_exchange() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, the first thing").await;
    stage.settle().await;
    stage.types(ELARA, "Bartok, the horror").await;
    stage.settle().await;
    stage.types(MIRA, "what a horror that is").await;
    stage.settle().await;
    stage.events();
    stage.order(Command::Halt).await;
    stage.settle().await;
    assert_eq!(taken_back(stage.events()), [2, 3]);
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.types(THORIN, "Gundren, hello").await;
    stage.settle().await;
    let asked = stage.models[1].read(0);
    assert!(!asked.contains("horror") && asked.contains("the first thing"), "{asked}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(kept.contains("the first thing") && !kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn answer_playing_at_x_card_is_never_shown() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Gundren, the first thing").await;
    stage.settle().await;
    stage.types(ELARA, "Bartok, the horror").await;
    stage.until_heard().await;
    stage.types(THORIN, "Bartok, more of the horror").await;
    stage.order(Command::Halt).await;
    stage.settle().await;
    let events = stage.shown();
    assert!(!format!("{events:?}").contains("horror"), "{events:#?}");
    assert_eq!(taken_back(events), [] as [u64; 0], "it was not told of before");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(kept.contains("the first thing") && !kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn words_spoken_at_x_card_are_never_shown() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    // Thorin's words are not recognised yet, and Elara still speaks.
    let text = Some(Ok("what a horror that is"));
    stage.hears_so(Said { partials: Vec::new(), text, takes: ms(2_000) });
    stage.says(THORIN).await;
    stage.hears(&[(30, "Bartok the horror")], "Bartok the horror goes on");
    stage.voice(ELARA, ms(1_000)).await;
    stage.order(Command::Halt).await;
    sleep(ms(5_000)).await;
    stage.settle().await;
    let events = stage.events();
    assert!(!format!("{events:?}").contains("horror"), "{events:#?}");
    stage.order(Command::Mute { seat: None, muted: false }).await;
    stage.hears(&[], "Bartok hello");
    stage.says(ELARA).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn unaddressed_words_at_x_card_are_never_shown() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let text = Some(Ok("what a horror that is"));
    stage.hears_so(Said { partials: Vec::new(), text, takes: ms(1) });
    // It is recognised, and may still be continued.
    stage.says(THORIN).await;
    stage.order(Command::Halt).await;
    sleep(ms(5_000)).await;
    stage.settle().await;
    let events = stage.shown();
    assert!(!format!("{events:?}").contains("horror"), "{events:#?}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("horror"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn paused_table_hears_and_answers_later() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    stage.types(ELARA, "Gundren, hello").await;
    sleep(ms(100)).await;
    stage.order(Command::Pause(true)).await;
    assert_eq!(status(&stage).await.state, State::Paused);
    stage.types(THORIN, "Gundren, the bridge is down").await;
    let puppet = Command::Puppet { speaker: DM, seat: SeatId(0), text: "A short break.".into() };
    sleep(ms(2_000)).await;
    stage.order(puppet).await;
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| (line.npc.as_str(), line.outcome)).collect();
    let expected =
        [("", Outcome::NobodyAddressed), ("Bartok", Outcome::Spoken), ("Bartok", Outcome::Spoken)];
    assert_eq!(outcomes, expected, "{told:?}");
    assert!(stage.heard("Gundren").is_none());
    assert_eq!(status(&stage).await.seats[1].waiting, 1);
    stage.order(Command::Pause(false)).await;
    let told = stage.told().await;
    assert_eq!((told[0].speaker.as_str(), told[0].outcome), ("Elara", Outcome::Spoken), "{told:?}");
    let last = stage.models[1].asked() - 1;
    assert!(stage.models[1].read(last).contains("the bridge is down"));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn skipping_goes_on_with_the_next() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("One. Two. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.until_heard().await;
    assert_eq!(status(&stage).await.state, State::Speaking("Bartok".to_owned()));
    stage.order(Command::Skip).await;
    let told = stage.told().await;
    let outcomes: Vec<_> = told.iter().map(|line| (line.speaker.as_str(), line.outcome)).collect();
    assert_eq!(outcomes, [("Thorin", Outcome::Interrupted), ("Elara", Outcome::Spoken)]);
    stage.order(Command::Skip).await;
    let states: Vec<_> = stage.states();
    let (thinking, speaking) = (State::Thinking("Bartok".into()), State::Speaking("Bartok".into()));
    assert!(states.starts_with(&[thinking, speaking]), "{states:?}");
    assert_eq!(states.last(), Some(&State::Listening));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stage_note_lasts_its_turns_and_is_not_stored() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    let note =
        |note: &str, turns| Command::Direct { seat: SeatId(0), note: note.to_owned(), turns };
    stage.order(note("You [secretly] owe Thorin money.", Some(2))).await;
    for _ in 0..3 {
        stage.types(THORIN, "Bartok, hello").await;
        stage.types(THORIN, "Gundren, hello").await;
        stage.settle().await;
    }
    let reads = |model: usize, turn| stage.models[model].read(turn).contains("owe Thorin money");
    assert_eq!([reads(0, 0), reads(0, 1), reads(0, 2), reads(1, 0)], [true, true, false, false]);
    assert_eq!(status(&stage).await.seats[0].note_turns_left, None);
    stage.order(note("Be brief.", None)).await;
    assert_eq!(status(&stage).await.seats[0].note_turns_left, Some(None));
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    assert!(stage.models[0].read(3).contains("Be brief."));
    stage.order(note("  ", None)).await;
    assert_eq!(status(&stage).await.seats[0].note_turns_left, None);
    let lines = format!("{:?}", stage.lines());
    assert!(!lines.contains("owe Thorin") && !lines.contains("Be brief"), "{lines}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("owe Thorin") && !kept.contains("Be brief"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn unheard_answer_consumes_no_note_turn() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let note = Command::Direct { seat: SeatId(0), note: "Be brief.".into(), turns: Some(1) };
    stage.order(note).await;
    stage.models[0].then(&[Stall]);
    stage.types(THORIN, "Bartok, hello").await;
    sleep(ms(50)).await;
    stage.types(THORIN, "stop").await;
    stage.settle().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    assert!(stage.models[0].read(1).contains("Be brief."));
    assert_eq!(status(&stage).await.seats[0].note_turns_left, None);
    stage.lines();
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn pins_hold_for_a_player_or_for_everyone() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    let pin = |seat, player| Command::Pin { seat, player };
    stage.order(pin(Some(SeatId(0)), None)).await;
    stage.order(pin(Some(SeatId(1)), Some(ELARA))).await;
    stage.types(THORIN, "what is the news").await;
    stage.types(ELARA, "what is the news").await;
    let told = stage.told().await;
    let who: Vec<_> = told.iter().map(|line| (line.speaker.as_str(), line.npc.as_str())).collect();
    assert_eq!(who, [("Thorin", "Bartok"), ("Elara", "Gundren")]);
    let seats = status(&stage).await.seats;
    assert_eq!(
        (&seats[0].pinned_by, &seats[1].pinned_by),
        (&vec!["everyone".into()], &vec!["Elara".into()])
    );
    stage.order(pin(None, Some(ELARA))).await;
    stage.types(ELARA, "and what else").await;
    assert_eq!(stage.told().await[0].npc, "Bartok");
    stage.order(pin(None, None)).await;
    assert!(status(&stage).await.seats.iter().all(|seat| seat.pinned_by.is_empty()));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn text_typed_to_npc_reaches_it_whatever_it_says() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    let say = |text: &str| Command::TypedTo { speaker: DM, seat: SeatId(1), text: text.to_owned() };
    stage.order(say("Bartok, hello")).await;
    stage.order(say("mute Bartok")).await;
    stage.order(Command::TypedTo { speaker: DM, seat: SeatId(7), text: "hello".into() }).await;
    let told = stage.told().await;
    assert!(
        told.iter().all(|line| (line.npc.as_str(), line.outcome) == ("Gundren", Outcome::Spoken))
    );
    assert_eq!(told.len(), 2);
    stage.order(Command::Mute { seat: Some(SeatId(1)), muted: true }).await;
    stage.order(say("hello")).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::NobodyAddressed);
    stage.order(say("x card")).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Stopped);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn scene_has_a_place_a_time_and_its_npcs() {
    let scene =
        |name: &str, npc: &str| Scene { name: name.into(), npcs: vec![npc.into()], music: None };
    let scenes = vec![scene("Tavern", "Bartok"), scene("Mine", "Gundren")];
    let campaign = Campaign { scenes, ..Campaign::default() };
    let mut stage = Setup { campaign, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    let set = |location: &str, time: Option<&str>| {
        let location = Some(location.to_owned());
        Command::Scene(SceneChange::Set { location, time: time.map(str::to_owned), music: None })
    };
    stage.order(set("mine", Some("midnight"))).await;
    assert_eq!(status(&stage).await.scene.present, ["Gundren"]);
    stage.order(set("The Ashen Bridge", None)).await;
    stage.order(Command::Scene(SceneChange::Enter(SeatId(0)))).await;
    stage.types(THORIN, "Bartok, where are we").await;
    stage.until_heard().await;
    sleep(ms(100)).await;
    stage.order(Command::Scene(SceneChange::Leave(SeatId(0)))).await;
    stage.types(THORIN, "Bartok, hello").await;
    let told = stage.told().await;
    assert_eq!(
        (told[0].outcome, told[1].outcome),
        (Outcome::Interrupted, Outcome::NobodyAddressed)
    );
    let read = stage.models[0].read(0);
    assert!(read.contains("[Scene: The Ashen Bridge]") && read.contains("[Time of day: midnight]"));
    stage.order(set("", Some(""))).await;
    let scene = status(&stage).await.scene;
    assert_eq!((scene.location, scene.time_of_day), (None, None));
    assert_eq!(scene.present, ["Gundren"]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn players_are_called_by_whom_they_play() {
    let players = vec![Player { name: "Thorin".into(), character: "Thorin Oakenshield".into() }];
    let campaign = Campaign { players, ..Campaign::default() };
    let mut stage = Setup { campaign, ..Setup::of(&["Bartok"]) }.open().await;
    let plays =
        |name: Option<&str>| Command::Character { speaker: THORIN, name: name.map(str::to_owned) };
    for (name, called) in
        [(None, "Thorin: "), (Some("Balin the Wise"), "Balin the Wise: "), (Some(" "), "Thorin: ")]
    {
        stage.order(plays(name)).await;
        stage.types(THORIN, "Bartok, hello").await;
        stage.settle().await;
        let read = stage.models[0].read(stage.models[0].asked() - 1);
        assert!(read.contains(&format!("{called}Bartok, hello")), "{called}: {read}");
        assert_eq!(stage.lines()[0].speaker, "Thorin", "reports have the person's own name");
    }
    stage.order(plays(Some("Balin"))).await;
    stage.types(ELARA, "Balin, give me the rope").await;
    let line = &{
        stage.settle().await;
        stage.lines()
    }[0];
    assert_eq!(line.detail.as_deref(), Some("said to another player"));
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn former_names_are_forgotten_in_the_end() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let named =
        |name: &str| Command::Join(Speaker { id: THORIN, name: name.to_owned(), is_dm: false });
    let is_a_player = async |stage: &mut Stage, name: &str| {
        stage.types(ELARA, &format!("{name}, give me the rope")).await;
        stage.settle().await;
        stage.lines()[0].detail.as_deref() == Some("said to another player")
    };
    stage.order(named("Balin")).await;
    stage.order(named("Oskar")).await;
    assert!(is_a_player(&mut stage, "Balin").await && is_a_player(&mut stage, "Oskar").await);
    for _ in 0..20 {
        stage.order(named("Hedwig")).await;
        stage.order(named("Oskar")).await;
    }
    assert!(is_a_player(&mut stage, "Oskar").await);
    assert!(!is_a_player(&mut stage, "Balin").await);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn speakers_leaving_mid_word_are_not_heard() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[(20, "Bartok, what")], "Bartok, what is the news");
    stage.voice(THORIN, ms(1_000)).await;
    stage.order(Command::Leave(THORIN)).await;
    // Sound in transit.
    stage.quiet(THORIN, ms(1_000)).await;
    stage.settle().await;
    assert_eq!(stage.lines().len(), 0);
    assert_eq!(stage.stt.live.count(), 0, "no recogniser is left open");
    let speaker = Speaker { id: THORIN, name: "Thorin".into(), is_dm: false };
    stage.order(Command::Join(speaker)).await;
    stage.hears(&[], "Bartok, hello");
    stage.says(THORIN).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Spoken);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn answer_goes_on_when_its_asker_has_left() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.types(THORIN, "Bartok, hello").await;
    stage.order(Command::Leave(THORIN)).await;
    assert_eq!(stage.told().await, [Told::of("Thorin", "Bartok", Outcome::Spoken, "Well met.")]);
    stage.order(Command::Leave(SpeakerId(77))).await;
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn opted_out_speaker_is_unanswered_and_forgotten() {
    let mut stage = Setup::of(&["Bartok", "Gundren"]).open().await;
    stage.types(THORIN, "the moon is green").await;
    stage.models[0].then(&[Text("One. Two. Three.")]);
    stage.types(THORIN, "Bartok, count").await;
    stage.types(ELARA, "Bartok, hello").await;
    stage.types(THORIN, "Bartok, tell me a secret").await;
    stage.until_heard().await;
    stage.lines();
    stage.order(Command::Forget(THORIN)).await;
    for frame in babble(ms(500)) {
        let frame = voiced(THORIN, tokio::time::Instant::now(), frame);
        stage.table.voice.send(frame).await.expect("the table is open");
    }
    stage.types(ELARA, "Gundren, hello").await;
    let told = stage.told().await;
    assert!(
        told.iter().all(|line| line.speaker == "Elara" && line.outcome == Outcome::Spoken),
        "{told:?}"
    );
    let frames = stage.stt.frames.load(std::sync::atomic::Ordering::SeqCst);
    assert_eq!((told.len(), frames), (2, 0));
    let read = stage.models[1].read(0);
    assert!(!read.contains("moon") && !read.contains("secret"), "{read}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("moon") && !kept.contains("secret"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn roll_of_a_forgotten_player_is_not_remembered() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    let roll = r#"{"expression":"2d6"}"#;
    stage.models[0].then(&[Call("roll", roll)]).then(&[Text("Eleven. And a secret."), Stall]);
    stage.types(THORIN, "Bartok, roll for the moon").await;
    stage.until_heard().await;
    stage.order(Command::Forget(THORIN)).await;
    stage.settle().await;
    assert!(stage.lines().is_empty());
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("moon") && !kept.contains("secret"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn words_deleted_in_their_turn_are_not_stored() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Text("The wombat is well.")]);
    stage.types(THORIN, "Bartok, my wombat").await;
    stage.until_heard().await;
    stage.types(THORIN, "Bartok, the wombat again").await;
    stage.hears(&[], "Bartok a third wombat");
    stage.voice(THORIN, ms(300)).await;
    let (done, erased) = oneshot::channel();
    let player = Person { id: PersonId("Thorin".to_owned()), names: Vec::new() };
    stage.order(Command::Erase(player, done)).await;
    assert_eq!(erased.await, Ok(()));
    stage.types(ELARA, "Bartok, hello").await;
    stage.settle().await;
    let told = format!("{:?}", stage.shown());
    assert!(told.contains("hello") && !told.contains("wombat"), "{told}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(kept.contains("hello") && !kept.contains("wombat"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn pause_does_not_repeat_a_deleted_question() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.models[0].then(&[Wait(2_000), Text("The wombat is well.")]);
    stage.types(THORIN, "Bartok, my wombat").await;
    sleep(ms(100)).await;
    let player = Person { id: PersonId("Thorin".to_owned()), names: Vec::new() };
    stage.order(Command::Erase(player, oneshot::channel().0)).await;
    stage.order(Command::Pause(true)).await;
    stage.order(Command::Pause(false)).await;
    stage.settle().await;
    let told = format!("{:?}", stage.shown());
    assert!(!told.contains("wombat"), "{told}");
    let kept = format!("{:?}", stage.close().await.histories);
    assert!(!kept.contains("wombat"), "{kept}");
}

#[tokio::test(start_paused = true)]
async fn status_counts_what_became_of_utterances() {
    let mut stage = Setup::of(&["Bartok"]).open().await;
    stage.hears(&[], "Bartok, hello");
    stage.says(THORIN).await;
    stage.settle().await;
    stage.types(ELARA, "what a day").await;
    stage.types(ELARA, "it rains").await;
    stage.settle().await;
    stage.models[0].then(&[Stall]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.settle().await;
    let status = status(&stage).await;
    assert_eq!((status.utterances, status.answered, status.errors), (4, 1, 1), "{status:#?}");
    assert_eq!((status.silent, status.state.clone()), (2, State::Listening));
    let hearing = status.latency.speech_end_to_final.unwrap();
    assert!(hearing.p50 > 0.0 && hearing.p50 <= hearing.p95, "{hearing:?}");
    assert_eq!(status.seats[0].brain, "stand-in");
    stage.lines();
    stage.close().await;
}
