//! NPCs whose voice service is down.

use discord_loopback::{AUDIBLE, Options, Slash};

use super::hall::{BOUND, Hall};
use crate::support::NOBODY;

#[tokio::test(flavor = "multi_thread")]
async fn words_without_a_voice_appear_in_the_channel() {
    let config = format!(
        "providers:\n  tts: {{ service: openai, base_url: \"http://{NOBODY}/v1\", model: m, \
         first_byte_timeout_ms: 500 }}\nnpcs: # own cast\n  - name: Bartok\n    voice: {{ voice_id: alloy }}\n    \
         lines: [{{ say: \"The key is under the mat.\" }}]\n  - name: Greymantle\n    voice: {{ voice_id: alloy, \
         fallback: {{ provider: flite, voice_id: rms }} }}\n    lines: [{{ say: \"Good evening to you, and \
         welcome.\" }}]\n"
    );
    let (hall, dora) = Hall::in_session(Options::default(), &config).await;
    hall.has_greeted(&dora).await;
    hall.asks(&hall.dm, Slash::new("say").option("text", "Bartok, where is the key?")).await;
    let shown = hall.reads(|it| it.content().contains("(not heard)")).await;
    assert_eq!(shown.content(), "**Bartok** (not heard): The key is under the mat.");
    hall.reads(|it| it.text().contains("nothing listens there")).await;

    dora.forget();
    hall.asks(&hall.dm, Slash::new("say").option("text", "Greymantle, good evening")).await;
    dora.wait_for_voice(hall.discord.bot(), AUDIBLE, BOUND).await.unwrap();
    hall.reads(|it| it.text().contains("in its second voice, flite rms")).await;
    hall.ends();
}
