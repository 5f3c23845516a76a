//! Names of the campaign, told to a speech service.

use discord_loopback::{Options, Player, Slash};

use super::hall::{BOUND, Hall, said};
use crate::support::{chat_server::ChatServer, deepgram::DeepgramServer};

/// The names that the next utterance is heard with, the likeliest last.
async fn prompt(server: &ChatServer, dora: &Player) -> String {
    let before = server.requests().len();
    dora.say(&said("slt", "Good evening to all of you")).await.unwrap();
    let heard = async {
        loop {
            let requests = server.requests();
            let mut heard = requests.iter().skip(before);
            if let Some(request) = heard.find(|it| it.line.ends_with("/audio/transcriptions")) {
                return request.clone();
            }
            server.received(requests.len() + 1).await;
        }
    };
    let request = tokio::time::timeout(BOUND, heard).await.expect("it is heard");
    assert_eq!(request.refused, None);
    let body = String::from_utf8_lossy(&request.body);
    let (_, rest) = body.split_once("name=\"prompt\"\r\n\r\n").expect("a prompt");
    rest.split("\r\n").next().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn speech_service_gets_scene_names_first() {
    let server = ChatServer::start();
    let stt = format!(
        "providers:\n  stt: {{ name: openai, base_url: \"{}\", model: w }}\n",
        server.base_url()
    );
    let (hall, dora) = Hall::in_session(Options::default(), &stt).await;
    hall.listens_to("Dora").await;
    let tavern = prompt(&server, &dora).await;
    assert!(tavern.len() <= 600, "{tavern}");
    assert!(tavern.ends_with("Bartok the Barkeep"), "who is there comes first: {tavern}");
    let place = |prompt: &str, name: &str| {
        let names: Vec<&str> = prompt.split(", ").collect();
        names.iter().rev().position(|it| *it == name).unwrap_or(usize::MAX)
    };
    assert!(place(&tavern, "Ravenford") < 100, "{tavern}");
    hall.told(&hall.dm, Slash::new("scene set").option("location", "Zorvathian Crypt")).await;
    let crypt = prompt(&server, &dora).await;
    assert!(place(&crypt, "Zorvathian Crypt") < 12, "{crypt}");
    assert!(!tavern.contains("Crypt"), "{tavern}");
    hall.told(&hall.dm, Slash::new("character set").option("name", "Thorinsdottir")).await;
    let named = prompt(&server, &dora).await;
    assert!(place(&named, "Thorinsdottir") < place(&named, "Zorvathian Crypt"), "{named}");

    // New names are heard from the next session on.
    let add = Slash::new("entity add").option("name", "Grimwaldia").option("type", "npc");
    let add = add.option("description", "Lives in the Zorvathian Crypt.");
    hall.told(&hall.dm, add).await;
    hall.told(&hall.dm, Slash::new("session stop")).await;
    hall.reads(|it| it.content().contains("The session is over")).await;
    // The bot may still be leaving the channel, and says so.
    let start = Slash::new("session start");
    let started = hall.until_told(&hall.dm, start, |told| !told.contains("try again")).await;
    assert!(started.contains("I listen"), "{started}");
    hall.listens_to("Dora").await;
    hall.told(&hall.dm, Slash::new("scene set").option("location", "Zorvathian Crypt")).await;
    let again = prompt(&server, &dora).await;
    assert!(place(&again, "Grimwaldia") < 25, "{again}");
    hall.ends();
}

/// The place of `name` among terms.
fn place(terms: &[&str], name: &str) -> usize {
    terms.iter().position(|term| *term == name).unwrap_or(usize::MAX)
}

#[tokio::test(flavor = "multi_thread")]
async fn open_socket_gets_names_of_next_scene() {
    let server = DeepgramServer::start("k");
    let providers = format!("providers:\n{}", server.entry());
    let (hall, dora) = Hall::in_session(Options::default(), &providers).await;
    hall.listens_to("Dora").await;
    let evening = said("slt", "Good evening to all of you");
    dora.say(&evening).await.unwrap();
    server.until(|seen| seen.iter().any(|it| it.ordered("Finalize") > 0)).await;
    let first = server.seen().into_iter().find(|it| it.seconds > 0.0).unwrap();
    let terms = first.values("keyterm");
    assert_eq!(place(&terms, "Bartok the Barkeep"), 0, "who is there comes first: {terms:?}");
    assert!(place(&terms, "Zorvathian Crypt") > 12, "{terms:?}");
    assert_eq!(first.refused, None);
    hall.told(&hall.dm, Slash::new("scene set").option("location", "Zorvathian Crypt")).await;
    dora.say(&evening).await.unwrap();
    server.until(|seen| seen.iter().any(|it| it.ordered("Configure") > 0)).await;
    let seen = server.seen();
    let mut orders = seen.iter().flat_map(|it| &it.orders);
    let told = orders.rfind(|order| order["type"] == "Configure").unwrap();
    let terms: Vec<&str> =
        told["keyterms"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    assert!(place(&terms, "Zorvathian Crypt") < 12, "{terms:?}");
    hall.ends();
}
