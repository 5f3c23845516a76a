//! The counterpart itself, held against the vendor's own client. `./dev test` installs it.

use serde_json::json;

use crate::{
    support::{
        deepgram::DeepgramServer,
        program::{Place, run},
        speech::{plain_wav, speech},
    },
    third_party::{client, installed},
};

use super::KEY;

const TEXT: &str = "Hello there my good friend Bartok.";

#[test]
fn vendors_own_client_is_served_alike() {
    let Some(folder) = installed("deepgram-sdk") else { return };
    let (server, place) = (DeepgramServer::start(KEY), Place::new());
    server.says(&[TEXT]);
    server.says(&[TEXT]);
    place.write("said.wav", plain_wav(&speech("rms", "hello there my good friend Bartok")));
    let mut client = client(&folder, "deepgram");
    client.args([&server.base_url(), KEY]).arg(place.path("said.wav"));
    let told = run(client, "").ends_with(0).line();
    let nova = &told["nova"];
    assert_eq!(nova["text"], TEXT, "{told:#}");
    assert!(told["refused"].as_str().is_some_and(|it| it.contains("HTTP 401")), "{told:#}");
    assert_eq!(nova["failed"], "CONFIGURE_ALREADY_PENDING", "{told:#}");
    assert!(
        nova["interims"].as_u64() > Some(1) && nova["duration"].as_f64() > Some(1.0),
        "{told:#}"
    );
    let flux = &told["flux"];
    assert_eq!(
        (&flux["text"], &flux["trigger"], &flux["in_order"]),
        (&json!(TEXT), &json!("model"), &json!(true)),
        "{told:#}"
    );
    let events: Vec<&str> =
        flux["events"].as_array().unwrap().iter().filter_map(|it| it.as_str()).collect();
    assert_eq!(events.first(), Some(&"StartOfTurn"));
    assert!(events.contains(&"Update") && events.contains(&"EagerEndOfTurn"), "{events:?}");
}
