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

/// Ends the bot; none of its files holds one of `words`.
fn ends_without(mut hall: Hall, words: &[&str]) {
    assert_eq!(hall.program.take().expect("it was started").terminate(), 0);
    assert_eq!(hall.discord.violations(), Vec::<String>::new());
    let folders = ["data", "data/sessions"].map(|it| std::fs::read_dir(hall.place.path(it)));
    // Without calls of tools there is no folder of sessions.
    let paths = folders.into_iter().flatten().flatten().map(|it| it.unwrap().path());
    let files: Vec<_> = paths.filter(|path| path.is_file()).collect();
    assert!(files.iter().any(|file| file.ends_with("memory.db")), "{files:?}");
    for (file, word) in files.iter().flat_map(|file| words.iter().map(move |word| (file, word))) {
        let bytes = std::fs::read(file).unwrap();
        let is_kept = bytes.windows(word.len()).any(|it| it == word.as_bytes());
        assert!(!is_kept, "{word} is still in {}", file.display());
    }
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
        deleted.ephemeral() && deleted.text().contains("Deleted: 1 line,"),
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
    assert!(purged.text().contains("Deleted: 1 line,"), "{}", purged.text());
    ends_without(hall, &["wombat", "ferret", "badger"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn opt_out_deletes_lines_that_are_written_late() {
    let (hall, dora) = Hall::in_session(Options::default(), "").await;
    hall.listens_to("Dora").await;
    hall.has_greeted(&dora).await;
    let (anna, ben) = (hall.inn.add_member("Anna", &[]), hall.inn.add_member("Ben", &[]));
    let other = rusqlite::Connection::open(hall.place.path("data/memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    says(&hall, &dora, &anna, "roll 2d6 for my wombat").await;
    let answer = hall.told(&anna, Slash::new("privacy optout")).await;
    assert!(answer.contains("no longer hear you"), "{answer}");
    hall.program.as_ref().unwrap().says("are not deleted yet");
    // Its transaction ends with it.
    drop(other);
    says(&hall, &dora, &ben, "roll 2d6 for my ferret").await;
    let recap = Slash::new("session recap");
    let is_right = |told: &str| told.contains("ferret") && !told.contains("wombat");
    hall.until_told(&ben, recap, is_right).await;
    hall.program.as_ref().unwrap().says("a deletion that had to wait is done");
    ends_without(hall, &["wombat"]);
}
