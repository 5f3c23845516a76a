//! Lines that the bot has written down, for their speakers, and taken back when they say so.

use discord_loopback::{AUDIBLE, Member, Options, Slash};

use super::hall::{BOUND, Hall};

/// `member` types something to Bartok and waits until he has answered.
async fn says(hall: &Hall, dora: &discord_loopback::Player, member: &Member, text: &str) {
    let bot = hall.discord.bot();
    let quiet = std::time::Duration::from_millis(700);
    dora.wait_for_silence(bot, quiet, BOUND).await.unwrap();
    dora.forget();
    let say = Slash::new("say").option("text", text).option("npc", "Bartok");
    hall.asks(member, say).await;
    dora.wait_for_voice(bot, AUDIBLE, BOUND).await.unwrap();
    dora.wait_for_silence(bot, quiet, BOUND).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn players_can_export_and_delete_their_lines() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let (anna, ben) = (hall.inn.add_member("Anna", &[]), hall.inn.add_member("Ben", &[]));
    says(&hall, &dora, &anna, "roll 2d6 for my wombat").await;
    says(&hall, &dora, &ben, "roll 2d6 for my ferret").await;
    let export = hall.asks(&anna, Slash::new("privacy export")).await;
    assert!(export.ephemeral(), "{}", export.text());
    let files = export.message.unwrap().files();
    assert_eq!(files[0].0, "what-you-said.txt");
    let recap = hall.asks(&ben, Slash::new("session recap")).await;
    assert!(recap.ephemeral() && recap.text().contains("ferret"), "{}", recap.text());
    let secret = Slash::new("session recap").option("audience", "dm");
    assert!(hall.asks(&ben, secret).await.text().contains("only game masters"));
    let asked = hall.asks(&anna, Slash::new("privacy delete")).await;
    assert!(asked.ephemeral() && asked.text().contains("can't undo this"));
    let deleted = hall.presses(&anna, &asked.message.unwrap(), "Delete what I said").await;
    assert!(
        deleted.ephemeral() && deleted.text().contains("Deleted: 1 lines"),
        "{}",
        deleted.text()
    );
    let purge = || Slash::new("privacy purge").option("user", ben.id);
    assert!(hall.asks(&anna, purge()).await.text().contains("only game masters"));
    says(&hall, &dora, &anna, "roll 2d6 for my badger").await;
    hall.asks(&anna, Slash::new("xcard")).await;
    hall.reads(|it| it.content().contains("An X-card was held up.")).await;
    let list = hall.asks(&ben, Slash::new("session recap")).await;
    assert!(list.text().contains("ferret") && !list.text().contains("badger"), "{}", list.text());
    let asked = hall.asks(&hall.dm, purge()).await;
    let purged = hall.presses(&hall.dm, &asked.message.unwrap(), "Delete their lines").await;
    assert!(purged.text().contains("Deleted: 1 lines"), "{}", purged.text());
    let files = [hall.place.path("data"), hall.place.path("data/sessions")];
    let kept = hall.ends_keeping();
    for word in ["wombat", "ferret", "badger"] {
        assert!(!kept.contains(word), "{word}: {kept}");
        for entry in files.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten() {
            let bytes = std::fs::read(entry.unwrap().path()).unwrap_or_default();
            let found = bytes.windows(word.len()).any(|it| it == word.as_bytes());
            assert!(!found, "{word} is still kept");
        }
    }
}
