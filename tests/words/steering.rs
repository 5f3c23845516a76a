//! Commands that are typed at the table.

use super::{Case, command, compare};

const TWO: &str = "npcs:\n  - { name: Pip, lines: [{ say: Hello. }] }\n  \
    - { name: Bartok the Barkeep, aliases: [Bartok], lines: [{ say: Hm. }] }\n";

/// A line typed by the game master.
fn typed(name: &'static str, line: &'static str) -> Case {
    command(name, &["ask", "--as-dm"]).with("glyphoxa.yaml", TWO).typing(line)
}

/// A line typed by a player.
fn by_a_player(name: &'static str, line: &'static str) -> Case {
    command(name, &["ask"]).with("glyphoxa.yaml", TWO).typing(line)
}

#[test]
fn typed_commands() {
    compare(
        "slash",
        [
            typed("unknown command", "/nonsense\n"),
            typed("mute without a name", "/npc mute\n"),
            typed("mute an unknown npc", "/npc mute Mira\n"),
            typed("mute", "/npc mute Pip\n"),
            typed("unmute all", "/npc unmuteall\n"),
            typed("speak without words", "/npc speak Pip\n"),
            typed("ask without a question", "/ask\n"),
            typed("unknown tier", "/tier set slow\n"),
            typed("tier for a while", "/tier set deep Pip 5\n"),
            typed("clear the tier", "/tier clear Pip\n"),
            typed("show tiers", "/tier show\n"),
            typed("a former word", "/mute Pip\n"),
            typed("scene without a verb", "/scene\n"),
            typed("set the scene", "/scene set Old Mill, dusk\n"),
            typed("show the scene", "/scene show\n"),
            typed("enter and leave", "/scene leave Pip\n/scene enter Pip\n"),
            typed("direct", "/npc direct Pip 3: be brief\n"),
            typed("direct without a note", "/npc direct Pip:\n"),
            typed("direct without a limit", "/npc direct Pip: be brief\n"),
            typed("permits", "/tools permits\n"),
            typed("revoke an unknown tool", "/tools revoke x\n"),
            typed("pin and unpin", "/npc pin Pip\n/npc unpin\n"),
            typed("character", "/character set Anna\n/character set\n"),
            typed("skip", "/skip\n"),
            typed("pause and resume", "/pause\n/resume\n"),
            typed("status", "/session status\n"),
            typed("card", "/xcard\n"),
            typed("help", "/help\n"),
            typed("silenced npc", "/npc mute Pip\nPip, hello\n"),
            typed("why before an answer", "/why\n"),
            by_a_player("player mutes", "/npc mute Pip\n"),
            by_a_player("player's unknown command", "/nonsense\n"),
            by_a_player("not heard", "/privacy optout\nPip, hello\n/privacy optin\n"),
            by_a_player("leave", "/leave\n"),
        ],
    );
}
