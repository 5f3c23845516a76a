//! Settings of a server outlive the program, older versions of it, and its memory being away.

use discord_loopback::{Options, Slash};

use super::hall::Hall;
use crate::support::{postgres, program::Ran};

fn info() -> Slash {
    Slash::new("privacy info")
}

#[tokio::test(flavor = "multi_thread")]
async fn old_opt_out_files_are_imported_never_guessed() {
    let mut hall = Hall::new(Options::default(), "").await;
    let anna = hall.inn.add_member("Anna", &[]);
    let file = format!("data/discord/guild-{}.json", hall.inn.id);
    hall.place.write(&file, "{ half a file");
    hall.start().await;
    let refused = hall.told(&anna, Slash::new("privacy optin")).await;
    assert!(refused.contains("I can't do anything here until this is fixed"), "{refused}");
    assert!(refused.contains("contains opt-outs"), "{refused}");
    // It goes on by itself once that is put right.
    hall.place.write(&file, format!(r#"{{ "version": 1, "opted_out": [{}] }}"#, anna.id));
    hall.until_told(&anna, info(), |told| told.contains("You opted out")).await;
    assert!(!hall.place.path(&file).exists());
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    hall.start().await;
    assert!(hall.told(&anna, info()).await.contains("You opted out"));
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn opt_out_is_kept_while_the_memory_is_away() {
    let Some(mut server) = postgres::Server::start() else { return };
    let url = format!("memory: {{ url: \"{}\" }}", server.url("postgres"));
    let mut hall = Hall::new(Options::default(), "").await;
    let config = std::fs::read_to_string(hall.place.path("glyphoxa.yaml")).unwrap();
    hall.place.write("glyphoxa.yaml", format!("{config}\n{url}\n"));
    let anna = hall.inn.add_member("Anna", &[]);
    hall.start().await;
    hall.told(&anna, Slash::new("privacy optin")).await;
    let file = hall.place.path(&format!("data/discord/guild-{}.json", hall.inn.id));
    assert!(!file.exists());
    server.stop();
    let done = hall.told(&anna, Slash::new("privacy optout")).await;
    assert!(done.contains("no longer hear you") && !done.contains("can't save it"), "{done}");
    assert!(file.exists(), "it waits for the memory");
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
    let away: Ran = hall.place.run(&["session", "list"]);
    assert!(away.ends_with(1).stderr.contains("the memory cannot be reached"));
    server.again();
    hall.start().await;
    assert!(hall.told(&anna, info()).await.contains("You opted out"));
    assert!(!file.exists());
    assert_eq!(hall.program.take().unwrap().terminate(), 0);
}
