//! Music under voices, and its end.

use std::{fs, path::Path, sync::Arc, time::Duration};

use tempfile::TempDir;
use tokio::time::sleep;

use super::{
    super::{
        Command, Continuation, Outcome, SceneChange, SeatId, Status, TableEvent,
        continuation::KeptMusic,
    },
    stage::{Setup, Stage, THORIN},
};
use crate::{
    audio::{Clip, FRAME_SAMPLES_48K, SampleRate, write_wav},
    domain::{Campaign, Scene},
    engine::tests::props::{Step::*, ms},
    logic::music::{Library, MusicOrder, Track},
};

/// Loudness of the music, and the maximum that counts as ducked.
const FULL: i16 = 20_000;
const DUCKED: i16 = 5_100;

/// A second of steady sound for each title, in a loop.
fn library(folder: &Path, titles: &[&str]) -> Library {
    let clip = Clip { samples: vec![FULL; 48_000], rate: SampleRate::HZ_48000 };
    let track = |title: &&str| {
        let file = folder.join(format!("{title}.wav"));
        fs::write(&file, write_wav(&clip)).unwrap();
        Arc::new(Track { file, ..Track::plain(title) })
    };
    Library { tracks: titles.iter().map(track).collect() }
}

/// A table with a tune playing.
async fn with_music(folder: &TempDir) -> Stage {
    let library = library(folder.path(), &["tune"]);
    let tune = Arc::clone(&library.tracks[0]);
    let stage = Setup { library, ..Setup::of(&["Bartok", "Gundren"]) }.open().await;
    stage.order(Command::Music(MusicOrder::Play(tune))).await;
    sleep(ms(1)).await;
    assert_eq!(level(&stage), Some(FULL));
    stage
}

#[tokio::test(start_paused = true)]
async fn spoken_wishes_change_the_music() {
    let folder = TempDir::new().unwrap();
    let mut stage = with_music(&folder).await;
    stage.types(THORIN, "Bartok, the music is too loud").await;
    stage.types(THORIN, "leiser bitte").await;
    let told = stage.told().await;
    assert!(told.iter().all(|line| line.outcome == Outcome::Granted), "{told:?}");
    assert_eq!(stage.music.status().volume, 60);
    stage.types(THORIN, "Mach die Musik aus").await;
    stage.told().await;
    assert!(stage.music.status().playing.is_empty());
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn wish_beside_a_request_leaves_it_to_the_npc() {
    let folder = TempDir::new().unwrap();
    let mut stage = with_music(&folder).await;
    stage.types(THORIN, "Bartok, turn the tune down and pour me an ale").await;
    stage.settle().await;
    let lines = stage.lines();
    let told = (lines[0].understood.as_str(), lines[0].outcome);
    assert_eq!(told, ("Bartok, pour me an ale", Outcome::Spoken));
    assert_eq!(stage.music.status().volume, 80);
    let text = "The music is too loud".to_owned();
    stage.order(Command::TypedTo { speaker: THORIN, seat: SeatId(1), text }).await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Granted);
    assert_eq!(stage.music.status().volume, 60);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn complaint_and_unknown_title_are_understood() {
    let folder = TempDir::new().unwrap();
    let mut stage = with_music(&folder).await;
    stage.types(THORIN, "Bartok, das ist mir zu laut.").await;
    assert_eq!(stage.told().await[0].outcome, Outcome::Granted);
    assert_eq!(stage.music.status().volume, 80);
    stage.types(THORIN, "Bartok, spiel doch mal 'Nachtigall im Moor'.").await;
    stage.settle().await;
    assert!(stage.heard("Bartok").is_some(), "he says that he does not know it");
    let playing = stage.music.status().playing;
    assert_eq!(playing.iter().map(|it| it.1.as_str()).collect::<Vec<_>>(), ["tune"]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn npc_answers_about_music_as_asked() {
    for (asked, answer) in [
        ("Bartok, welches Lied ist das?", "Das ist tune."),
        ("Bartok, which song is this?", "That is tune."),
        ("Bartok, spiel doch mal 'Nachtigall im Moor'.", "Dieses Stück kenne ich nicht."),
        ("Bartok, can you play 'Maiden of Lorn'?", "I do not know that tune."),
    ] {
        let folder = TempDir::new().unwrap();
        let mut stage = with_music(&folder).await;
        stage.types(THORIN, asked).await;
        stage.settle().await;
        let lines = stage.lines();
        assert!(lines.iter().any(|line| line.reply == answer), "{asked}: {lines:?}");
        stage.close().await;
    }
}

/// The last sample of the next frame of music; `None`: nothing sounds.
fn level(stage: &Stage) -> Option<i16> {
    let mut frame = [0; FRAME_SAMPLES_48K];
    stage.music.next_whole(&mut frame).then(|| frame[FRAME_SAMPLES_48K - 1])
}

/// Pulls frames in real time until `wanted` matches one; returns the time.
async fn until(stage: &Stage, wanted: impl Fn(i16) -> bool) -> Duration {
    let from = stage.opened.elapsed();
    for _ in 0..1_000 {
        if level(stage).is_some_and(&wanted) {
            return stage.opened.elapsed() - from;
        }
        sleep(ms(20)).await;
    }
    panic!("the music is never so loud");
}

async fn status(stage: &Stage) -> Status {
    let (ask, answer) = tokio::sync::oneshot::channel();
    stage.order(Command::Status(ask)).await;
    answer.await.unwrap()
}

async fn playing(stage: &Stage) -> Vec<String> {
    status(stage).await.music.playing.into_iter().map(|(_, title)| title).collect()
}

#[tokio::test(start_paused = true)]
async fn music_ducks_under_an_npc_and_swells_back() {
    let folder = TempDir::new().unwrap();
    let mut stage = with_music(&folder).await;
    stage.models[0].then(&[Text("Well met, all of you.")]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    let down = until(&stage, |level| level < DUCKED).await;
    assert!(down <= ms(50), "{down:?}");
    stage.settle().await;
    let last = stage.heard("Bartok").expect("he is heard").last;
    until(&stage, |level| level == FULL).await;
    let back = stage.opened.elapsed() - last;
    assert!((ms(580)..=ms(680)).contains(&back), "{back:?}");
    stage.told().await;
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn music_ducks_under_a_players_voice() {
    let folder = TempDir::new().unwrap();
    let mut stage = with_music(&folder).await;
    stage.hears(&[], "well");
    let (down, ()) =
        tokio::join!(until(&stage, |level| level < DUCKED), stage.voice(THORIN, ms(1_000)));
    assert!(down <= ms(150), "{down:?}");
    assert!(level(&stage).is_some_and(|it| it < DUCKED), "as long as the voice lasts");
    let (back, ()) =
        tokio::join!(until(&stage, |level| level == FULL), stage.quiet(THORIN, ms(1_500)));
    assert!((ms(800)..=ms(1_100)).contains(&back), "{back:?}");
    stage.told().await;
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn x_card_silences_music_in_one_frame() {
    let folder = TempDir::new().unwrap();
    let stage = with_music(&folder).await;
    stage.order(Command::Mute { seat: None, muted: true }).await;
    stage.order(Command::Pause(true)).await;
    assert_eq!(playing(&stage).await, ["tune"], "neither mute nor pause end it");
    assert_eq!(level(&stage), Some(FULL));
    stage.order(Command::Halt).await;
    assert_eq!(playing(&stage).await, [""; 0]);
    assert_eq!(level(&stage), None);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn closed_table_is_silent() {
    let folder = TempDir::new().unwrap();
    let stage = with_music(&folder).await;
    let music = stage.music.clone();
    stage.close().await;
    assert!(!music.next(&mut [0; FRAME_SAMPLES_48K]));
}

/// Scenes with music, without, and with unknown music.
fn campaign() -> Campaign {
    let scene = |name: &str, music: Option<&str>| Scene {
        name: name.to_owned(),
        npcs: vec!["Bartok".to_owned()],
        music: music.map(str::to_owned),
    };
    let scenes = vec![scene("Tavern", Some("inn")), scene("Mine", None), scene("Keep", Some("no"))];
    Campaign { scenes, ..Campaign::default() }
}

#[tokio::test(start_paused = true)]
async fn continued_table_plays_music_of_its_place() {
    let folder = TempDir::new().unwrap();
    for (place, music) in [("Tavern", vec!["inn"]), ("Mine", vec![]), ("a ditch", vec![])] {
        let location = Some(place.to_owned());
        let continuation = Some(Continuation { location, ..Continuation::default() });
        let library = library(folder.path(), &["inn"]);
        let setup = Setup { campaign: campaign(), library, ..Setup::of(&["Bartok"]) };
        let stage = Setup { continuation, ..setup }.open().await;
        assert_eq!(playing(&stage).await, music, "{place}");
        stage.close().await;
    }
}

/// Last state that the table has published since the last call.
async fn stands(stage: &mut Stage) -> Option<Continuation> {
    playing(stage).await;
    let stands = |event| match event {
        TableEvent::Stands(continuation) => Some(Arc::unwrap_or_clone(continuation)),
        _ => None,
    };
    stage.events().into_iter().filter_map(stands).last()
}

#[tokio::test(start_paused = true)]
async fn music_goes_on_where_it_was() {
    let folder = TempDir::new().unwrap();
    let library = library(folder.path(), &["inn", "tune"]);
    let mut stage = with_music(&folder).await;
    assert!(stands(&mut stage).await.is_some(), "it plays");
    // By a tool, past the table.
    stage.music.order(MusicOrder::Volume(40));
    let told = stands(&mut stage).await.expect("it is softer").music.unwrap();
    assert_eq!((told.volume, &*told.playing[0].title), (40, "tune"));
    for _ in 0..100 {
        level(&stage);
    }
    let position = stage.music.positions();
    assert!(position[0].1 >= ms(2_000), "{position:?}");
    let location = Some("Tavern".to_owned());
    let kept = Continuation { location, ..stage.close().await.continuation };

    let setup = || Setup {
        library: library.clone(),
        campaign: campaign(),
        ..Setup::of(&["Bartok", "Gundren"])
    };
    let stage = Setup { continuation: Some(kept.clone()), ..setup() }.open().await;
    assert_eq!(playing(&stage).await, ["tune"], "not the music of the scene");
    assert_eq!((stage.music.positions(), stage.music.status().volume), (position, 40));
    stage.close().await;

    let music = kept.music.map(|it| KeptMusic { playing: Vec::new(), ..it });
    let stage = Setup { continuation: Some(Continuation { music, ..kept }), ..setup() };
    let stage = stage.open().await;
    assert_eq!(playing(&stage).await, [""; 0], "it was stopped");
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn stopped_music_is_told() {
    let folder = TempDir::new().unwrap();
    let tune = Arc::clone(&library(folder.path(), &["tune"]).tracks[0]);
    let mut stage = with_music(&folder).await;
    for order in [Command::Music(MusicOrder::Stop), Command::Halt] {
        stage.order(order).await;
        assert!(stands(&mut stage).await.unwrap().music.unwrap().playing.is_empty());
        stage.order(Command::Music(MusicOrder::Play(Arc::clone(&tune)))).await;
        assert_eq!(stands(&mut stage).await.unwrap().music.unwrap().playing.len(), 1);
    }
    stage.close().await;
}

/// A table with an audible turn that starts a track when it is cut off.
async fn begins_a_track_when_cut(folder: &TempDir) -> Stage {
    let library = library(folder.path(), &["tune"]);
    let when_cut = Some(Arc::clone(&library.tracks[0]));
    let stage = Setup { library, when_cut, ..Setup::of(&["Bartok"]) }.open().await;
    stage.models[0].then(&[Text("Well met, all of you, and sit down with us.")]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    stage
}

#[tokio::test(start_paused = true)]
async fn no_track_follows_an_x_card() {
    let folder = TempDir::new().unwrap();
    let stage = begins_a_track_when_cut(&folder).await;
    stage.order(Command::Skip).await;
    assert_eq!(playing(&stage).await, ["tune"], "skipping leaves the music alone");
    stage.order(Command::Music(MusicOrder::Stop)).await;
    stage.models[0].then(&[Text("Well met again, all of you, and sit down.")]);
    stage.types(THORIN, "Bartok, hello").await;
    stage.until_heard().await;
    stage.order(Command::Halt).await;
    assert_eq!(playing(&stage).await, [""; 0]);
    stage.close().await;
}

#[tokio::test(start_paused = true)]
async fn no_track_follows_the_end_of_a_table() {
    let folder = TempDir::new().unwrap();
    let stage = begins_a_track_when_cut(&folder).await;
    let music = stage.music.clone();
    stage.close().await;
    assert!(!*music.sounds().borrow() && music.status().playing.is_empty());
}

#[tokio::test(start_paused = true)]
async fn scene_plays_its_music_unless_words_win() {
    let folder = TempDir::new().unwrap();
    let library = library(folder.path(), &["inn", "battle"]);
    let mut stage = Setup { campaign: campaign(), library, ..Setup::of(&["Bartok"]) }.open().await;
    let set = |location: Option<&str>, music: Option<&str>| {
        let [location, music] = [location, music].map(|it| it.map(str::to_owned));
        Command::Scene(SceneChange::Set { location, time: None, music })
    };
    assert_eq!(playing(&stage).await, ["inn"], "the first scene begins with the table");
    stage.order(set(None, Some(""))).await;
    stage.order(set(Some("tavern"), None)).await;
    assert_eq!(playing(&stage).await, ["inn"]);
    stage.order(set(Some("tavern"), Some("battle"))).await;
    assert_eq!(playing(&stage).await, ["battle"]);
    stage.order(set(Some("mine"), None)).await;
    assert_eq!(playing(&stage).await, ["battle"], "a scene without music changes nothing");
    stage.order(set(Some("keep"), None)).await;
    assert_eq!(playing(&stage).await, ["battle"]);
    let notices = stage.events().into_iter().filter_map(|event| match event {
        TableEvent::Private(notice) => Some(notice),
        _ => None,
    });
    assert_eq!(notices.collect::<Vec<_>>(), ["no music matches 'no' (see /music list)"]);
    stage.order(set(None, Some(""))).await;
    assert_eq!(playing(&stage).await, [""; 0]);
    stage.close().await;
}
