//! A table without the model files that hear.

use std::fs;

use discord_loopback::{AUDIBLE, Options, Slash, permission};

use super::hall::{BOUND, Hall, said};
use crate::support::weights::weights;

const WHY: &str = "whisper-tiny.en is not here (glyphoxa models get whisper-tiny.en)";

#[tokio::test(flavor = "multi_thread")]
async fn table_without_model_files_opens_and_says_so() {
    let mut hall = Hall::unheard(Options::default()).await;
    hall.start().await;
    let steward = hall.inn.add_role("Steward", permission::MANAGE_GUILD);
    let olga = hall.inn.add_member("Olga", &[steward]);
    let setup = hall.told(&olga, Slash::new("setup")).await;
    assert!(setup.contains(&format!("❌ I can't hear anyone: {WHY}")), "{setup}");
    let player = hall.discord.join_voice(&hall.dm, hall.inn.voice).await.unwrap();
    let started = hall.asks(&hall.dm, Slash::new("session start")).await.text();
    assert!(started.contains(WHY) && !started.contains("listen"), "{started}");
    let panel = hall.reads(|it| it.content().contains("Not heard: Dora")).await;
    assert!(panel.content().contains("I can't hear.") && panel.text().contains(WHY));
    let notice = hall.reads(|it| it.content().contains("Dora**")).await;
    let (text, opt_out) = (notice.content(), notice.button("Do not hear me"));
    assert!(text.contains("cannot hear you") && text.contains("/xcard"), "{text}");
    assert!(!text.contains("listen") && opt_out.is_none(), "{text}");
    let info = hall.told(&hall.dm, Slash::new("privacy info")).await;
    assert!(info.contains("I can't hear anyone") && info.contains(WHY), "{info}");

    // Speech is not decoded; typed lines are answered aloud.
    let bot = hall.discord.bot();
    let quiet = std::time::Duration::from_millis(500);
    player.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    player.say(&said("slt", "Bartok, roll two d six plus three")).await.unwrap();
    player.forget();
    hall.asks(&hall.dm, Slash::new("say").option("text", "Bartok, hello")).await;
    player.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    hall.reads(|it| it.text().contains("1: 1 answered")).await;

    // Files that come later count from the next session on.
    let Some(models) = weights() else { return };
    let folder = hall.place.path("data/models");
    fs::create_dir_all(&folder).unwrap();
    let set = "whisper-tiny.en";
    std::os::unix::fs::symlink(models.join(set), folder.join(set)).unwrap();
    let info = hall.told(&hall.dm, Slash::new("privacy info")).await;
    assert!(info.contains("I can't hear anyone"), "this session stays as it was: {info}");
    hall.told(&hall.dm, Slash::new("session stop")).await;
    hall.reads(|it| it.content().contains("The session is over")).await;
    // The bot may still be leaving the channel, and says so.
    hall.until_told(&hall.dm, Slash::new("session start"), |it| it.contains("I listen")).await;
    hall.listens_to("Dora").await;
    hall.ends();
}
