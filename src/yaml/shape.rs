//! Shapes of files: one table drives reading, problems and JSON Schemas.

/// Kind of value that a file may hold.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// Any text; numbers are taken as written.
    Text,
    /// Text that is not blank.
    Filled,
    /// `true` or `false`.
    Flag,
    /// A whole number, bounds included.
    Whole {
        /// The smallest value that is accepted.
        min: i64,
        /// The largest value that is accepted.
        max: i64,
    },
    /// A number, bounds included.
    Number {
        /// The smallest value that is accepted.
        min: f64,
        /// The largest value that is accepted.
        max: f64,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of one kind.
    List(&'static Kind),
    /// A mapping with known keys.
    Shape(&'static Shape),
    /// A mapping with keys of the user's own and values of one kind.
    Names(&'static Kind),
    /// One of several kinds.
    Either(&'static [Kind]),
    /// Anything that JSON can say.
    Any,
}

/// A mapping with known keys.
#[derive(Debug)]
pub struct Shape {
    /// Name of the thing described, for editors.
    pub title: &'static str,
    /// Its keys in the order of the documentation.
    pub keys: &'static [Key],
}

/// A key of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The key as users write it.
    pub name: &'static str,
    /// Spellings of other programs; read as `name`.
    pub also: &'static [&'static str],
    /// Values of other programs that are not supported, each with the fix.
    pub refused: &'static [(&'static str, &'static str)],
    /// Kind of its value.
    pub kind: Kind,
    /// Its effect, for editors.
    pub doc: &'static str,
    /// True if it must be there.
    pub required: bool,
}

impl Key {
    /// A key that may be left out.
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, also: &[], refused: &[], kind, doc, required: false }
    }

    /// A key that must be there.
    pub const fn required(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, also: &[], refused: &[], kind, doc, required: true }
    }

    /// Adds the spellings of other programs.
    pub const fn also(self, also: &'static [&'static str]) -> Self {
        Self { also, ..self }
    }

    /// Adds values of other programs, each with the fix.
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
