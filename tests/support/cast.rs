//! The voices of the shipped NPCs, as their files have them.
//!
//! Entry function: [`shipped`].

/// The files.
const FILES: [&str; 5] = [
    include_str!("../../npcs/bartok.yaml"),
    include_str!("../../npcs/greymantle.yaml"),
    include_str!("../../npcs/hale.yaml"),
    include_str!("../../npcs/mira.yaml"),
    include_str!("../../npcs/vesper.yaml"),
];

/// An NPC's voice.
pub struct Shipped {
    /// The NPC.
    pub name: &'static str,
    /// Text behind `voice:` in its file, indented by two, with a line's end.
    pub voice: String,
}

/// All five.
pub fn shipped() -> Vec<Shipped> {
    FILES.map(Shipped::of).into()
}

impl Shipped {
    fn of(file: &'static str) -> Self {
        let after = |key: &'static str| file.lines().skip_while(move |line| !line.starts_with(key));
        let name = after("name: ").next().and_then(|line| line.strip_prefix("name: "));
        let first = after("voice:").next().and_then(|line| line.strip_prefix("voice:"));
        let rest = after("voice:").skip(1).take_while(|line| line.starts_with("  "));
        let lines = std::iter::once(first.expect("a voice")).chain(rest);
        let voice = lines.map(|line| format!("{line}\n")).collect();
        Self { name: name.expect("a name"), voice }
    }

    /// The first value of `key`, as it stands there.
    pub fn value(&self, key: &str) -> Option<&str> {
        let (_, after) = self.voice.split_once(&format!("{key}: "))?;
        after.split([',', '\n', ' ', '}']).next()
    }

    /// An NPC with this voice and name that says `text` to everything, as an entry of `npcs:`.
    pub fn saying(&self, text: &str) -> String {
        let Self { name, voice } = self;
        // A block is indented by two in its file, and by four more here.
        let voice = voice.replace("\n  ", "\n      ");
        format!("  - name: {name}\n    voice:{voice}    lines: [{{ say: \"{text}\" }}]\n")
    }
}
