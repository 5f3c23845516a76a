//! Wrong command lines.

use super::{PIP, command, compare};

#[test]
fn wrong_command_lines() {
    compare(
        "command line",
        [
            command("unknown command", &["banana"]),
            command("misspelt command", &["chekc"]),
            command("misspelt flag", &["check", "--jsn"]),
            command("no dice", &["roll"]),
            command("times none", &["roll", "d20", "--times", "0"]),
            command("seed of letters", &["roll", "d20", "--seed", "x"]),
            command("dice with x", &["roll", "2x6"]),
            command("dice without sides", &["roll", "d0"]),
            command("dice with half a modifier", &["roll", "2d6kh"]),
            command("too many dice", &["roll", "1001d6"]),
            command("dice without an end", &["roll", "1d1e1"]),
            command("division by zero", &["roll", "1/0"]),
            command("empty dice", &["roll", ""]),
            command("words for dice", &["roll", "roll"]),
            command("odds of exploding dice", &["roll", "--odds", "1d6!"]),
            command("unknown kind of schema", &["schema", "banana"]),
            command("tier without text", &["tier"]),
            command("tier of an unknown npc", &["tier", "--text", "x", "--npc", "Mira"]),
            command("unknown tier", &["tier", "--text", "x", "--override", "slow"]),
            command("negative time", &["tier", "--text", "x", "--since-deep", "-1"]),
            command("run without a token", &["run"]),
            command("invite without a token", &["invite"]),
            command("folder as configuration", &["check", "--config", "."]),
            command("missing configuration", &["check", "--config", "missing.yaml"]),
        ],
    );
}

#[test]
fn wrong_uses_of_ask() {
    let ask = |name, arguments: &[&'static str]| command(name, &[&["ask"], arguments].concat());
    let far = "providers: { llm: { name: openai, base_url: 'http://127.0.0.1:1/v1', model: m } }\n";
    compare(
        "ask",
        [
            ask("nothing typed", &[]),
            ask("missing recording", &["--in", "missing.wav"]),
            ask("recording of text", &["--in", "text.wav"])
                .with("text.wav", "no recording, however long this text may be looked at"),
            ask("folder as recording", &["--in", "folder"]).with("folder/x", ""),
            ask("empty recording", &["--in", "empty.wav"]).with("empty.wav", ""),
            ask("unknown npc", &["--text", "hi", "--npc", "Mira"]),
            ask("nobody named", &["--text", "hello there"]).with(
                "glyphoxa.yaml",
                "npcs: [{ name: Pip, lines: [{ say: Hi. }] }, { name: Tom, lines: [{ say: Hm. }] }]\n",
            ),
            ask("only blanks", &["--text", " "]),
            ask("missing folder of the recording", &["--text", "hi", "--out", "no/x.wav"]),
            ask("folder as output", &["--text", "hi", "--out", "folder"]).with("folder/x", ""),
            ask("unknown tier", &["--text", "hi", "--tier", "slow"]),
            ask("unknown approval", &["--text", "hi", "--approve", "maybe"]),
            ask("negative time", &["--at", "-1", "--text", "hi"]),
            ask("time that is no number", &["--at", "NaN", "--text", "hi"]),
            ask("time of nothing", &["--text", "hi", "--at", "1"]),
            ask("session with a path", &["--text", "hi", "--session", "../x"]),
            ask("assistant without text", &["--assistant"]),
            ask("assistant that finds nothing", &["--assistant", "--text", "x"]),
            ask("model that is not there", &["--text", "Pip, hello"])
                .with("glyphoxa.yaml", [PIP, far].concat()),
        ],
    );
}
