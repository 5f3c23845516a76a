//! Recordings of every kind through the real program.

use serde_json::Value;

use crate::support::{
    ears::{self, Ears},
    program::{Place, repository},
    speech::read_wav,
};

/// The kinds in which `player.wav` lies beside it.
const KINDS: [&str; 5] = ["m4a", "opus", "mp3", "ogg", "webm"];

/// A file of `tests/data/sound`.
fn sound(name: &str) -> Vec<u8> {
    let path = repository("tests/data/sound").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// 16-bit samples of a plain WAV as FLAC, not compressed at all.
fn flac(wav: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 4_096;
    let crc = |bytes: &[u8], bits: u32, polynomial: u32| {
        let top = 1_u32 << (bits - 1);
        let of_bit = |crc: u32| if crc & top == 0 { crc << 1 } else { crc << 1 ^ polynomial };
        let of = |crc: u32, byte: &u8| {
            (0..8).fold(crc ^ u32::from(*byte) << (bits - 8), |crc, _| of_bit(crc))
        };
        bytes.iter().fold(0, of)
    };
    let samples = &wav[44..];
    let block = u16::try_from(BLOCK).unwrap().to_be_bytes();
    let mut file = b"fLaC\x80\0\0\x22".to_vec();
    file.extend([block, block].concat());
    file.extend([0; 6]);
    // 16,000 Hz, one channel, 16 bits, an unknown number of samples.
    file.extend((16_000_u64 << 44 | 15 << 36).to_be_bytes());
    file.extend([0; 16]);
    for (number, samples) in samples.chunks(2 * BLOCK).enumerate() {
        let len = u16::try_from(samples.len() / 2 - 1).unwrap().to_be_bytes();
        let mut frame = vec![0xFF, 0xF8, 0x70, 0x08, u8::try_from(number).unwrap(), len[0], len[1]];
        frame.push(u8::try_from(crc(&frame, 8, 0x07) & 0xFF).unwrap());
        frame.push(2);
        frame.extend(samples.chunks_exact(2).flat_map(|sample| [sample[1], sample[0]]));
        let check = u16::try_from(crc(&frame, 16, 0x8005) & 0xFFFF).unwrap();
        frame.extend(check.to_be_bytes());
        file.extend(frame);
    }
    file
}

/// Text heard and arguments of the call when `name` is played.
fn heard(place: &Place, name: &str) -> (Value, Value) {
    let ran = place.run(&["ask", "--json", "--in", name]).ends_with(0);
    let mut line = ran.line();
    (line["heard"].take(), line["tools"][0]["arguments"].take())
}

#[test]
fn recordings_of_every_format_are_heard_like_wav() {
    let ears = Ears::start();
    let place = Place::with_recogniser(&ears.entry());
    let wav = sound("player.wav");
    let player = read_wav(&repository("tests/data/sound/player.wav"));
    ears::remember("Bartok, roll two d six plus three", &player.samples);
    place.write("player.flac", flac(&wav));
    place.write("player.wav", wav);
    let (said, called) = heard(&place, "player.wav");
    assert_eq!(called["expression"], "2d6+3", "{said}");
    assert_eq!(heard(&place, "player.flac"), (said.clone(), called.clone()));
    for kind in KINDS {
        let name = format!("player.{kind}");
        place.write(&name, sound(&name));
        assert_eq!(heard(&place, &name), (said.clone(), called.clone()), "{name}");
    }
}

#[test]
fn damaged_recordings_are_named_with_the_reason() {
    let place = Place::with_config("npcs: [{ name: Pip, lines: [{ say: Hello. }] }]\n");
    for (name, bytes, wrong) in [
        ("cut.flac", sound("tone.flac")[..30].to_vec(), "ends inside its header"),
        ("cut.m4a", sound("tone.m4a")[..900].to_vec(), "recording was not finished"),
        ("fragments.m4a", sound("fragments.m4a"), "in fragments"),
        ("six.opus", sound("six_channels.opus"), "\"6\" channels"),
        ("cut.opus", sound("tone.opus")[..200].to_vec(), "no samples"),
        ("cut.webm", sound("tone.webm")[..60].to_vec(), "does not say what is in it"),
        (
            "huge.webm",
            b"\x1a\x45\xdf\xa3\x01\x7f\xff\xff\xff\xff\xff\xff".to_vec(),
            "Matroska file",
        ),
        ("film.mkv", b"\x1a\x45\xdf\xa3\x80\xa3\x01\x7f\xff\xff\xff\xff\xff\xff".to_vec(), "large"),
        ("old.aiff", b"FORM\0\0\0\0AIFFCOMM".to_vec(), "convert it to WAV"),
        ("wrong.opus", b"this is no recording".to_vec(), "not a sound file"),
    ] {
        place.write(name, bytes);
        let ran = place.run(&["ask", "--in", name]).ends_with(1);
        let message = ran.message();
        assert!(message.contains(&format!("'{name}'")) && message.contains(wrong), "{message}");
    }
    let ran = place.run(&["ask", "--in", "/dev/null"]).ends_with(1);
    assert!(ran.message().contains("use --in -"), "{ran:#?}");
}
