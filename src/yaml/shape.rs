//! Shapes of files: one table drives reading, problems and JSON Schemas.

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text; numbers are taken as written.
    Text,
    /// Text that is not blank.
    Filled,
    Flag,
    /// An integer, bounds included.
    Whole {
        min: i64,
        max: i64,
    },
    /// A number, bounds included.
    Number {
        min: f64,
        max: f64,
    },
    Word(&'static [&'static str]),
    List(&'static Kind),
    Shape(&'static Shape),
    /// A mapping with free keys and values of one kind.
    Names(&'static Kind),
    Either(&'static [Kind]),
    /// Any JSON.
    Any,
}

#[derive(Debug)]
pub struct Shape {
    /// For editors.
    pub title: &'static str,
    /// In the order of the documentation.
    pub keys: &'static [Key],
}

#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As users write it.
    pub name: &'static str,
    /// Spellings of other programs; read as `name`.
    pub also: &'static [&'static str],
    /// Unsupported values of other programs, each with the fix.
    pub refused: &'static [(&'static str, &'static str)],
    pub kind: Kind,
    /// Its effect, for editors.
    pub doc: &'static str,
    pub required: bool,
}

impl Key {
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, also: &[], refused: &[], kind, doc, required: false }
    }

    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, also: &[], refused: &[], kind, doc, required: true }
    }

    pub const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Adds unsupported values of other programs, each with the fix.
    pub const fn refused(self, refused: &'static [(&'static str, &'static str)]) -> Self {
        Self { refused, ..self }
    }
}

impl Shape {
    /// The key called `name`, in any spelling.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|key| key.name == name || key.also.contains(&name))
    }
}

impl Kind {
    /// The expected value, in words.
    pub fn expected(&self) -> String {
        match self {
            Self::Text | Self::Filled => "text".to_owned(),
            Self::Flag => "true or false".to_owned(),
            Self::Whole { min, max } => format!("a whole number from {min} to {max}"),
            Self::Number { min, max } => format!("a number from {min} to {max}"),
            Self::Word(words) => words.join(" or "),
            Self::List(item) => match item {
                Self::Text | Self::Filled => "a list of texts".to_owned(),
                _ => "a list".to_owned(),
            },
            Self::Shape(_) | Self::Names(_) => "a mapping of keys and values".to_owned(),
            Self::Either(kinds) => {
                kinds.iter().map(Self::expected).collect::<Vec<_>>().join(", or ")
            }
            Self::Any => "anything".to_owned(),
        }
    }
}
