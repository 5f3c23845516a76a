//! One use of a command: its caller and values. Entry type: [`Call`].

use std::{fmt, sync::Arc};

use futures::future::BoxFuture;

use super::text::Refusal;
use crate::session::{Speaker, SpeakerId};

#[derive(Clone, Debug)]
pub enum Value {
    Words(String),
    Number(i64),
    Flag(bool),
    /// At the table or not.
    Person(SpeakerId),
    /// A file, which is not read yet.
    File(GivenFile),
}

#[derive(Clone, Debug)]
pub struct Call {
    pub speaker: Speaker,
    values: Vec<(&'static str, Value)>,
}

impl Call {
    /// Values by the names of their parameters.
    pub fn new(speaker: Speaker, values: Vec<(&'static str, Value)>) -> Self {
        Self { speaker, values }
    }

    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(given, _)| *given == name).map(|(_, value)| value)
    }

    /// The words of `name`, trimmed; `None` if empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.value(name)? {
            Value::Words(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Value::Number(_) | Value::Flag(_) | Value::Person(_) | Value::File(_) => None,
        }
    }

    /// Like [`Call::text`]; fails if they are missing or empty.
    pub fn words(&self, name: &str) -> Result<&str, Refusal> {
        self.text(name).ok_or_else(|| format!("'{name}' is empty (fill it in)").into())
    }

    /// A number of 1 to `most`; fails out of that range.
    pub fn count(&self, name: &str, most: u32) -> Result<Option<u32>, Refusal> {
        let Some(Value::Number(given)) = self.value(name) else { return Ok(None) };
        match u32::try_from(*given) {
            Ok(number) if (1..=most).contains(&number) => Ok(Some(number)),
            _ => Err(format!("invalid number of {name} '{given}' (use 1 to {most})").into()),
        }
    }

    pub fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Flag(true)))
    }

    pub fn person(&self, name: &str) -> Option<SpeakerId> {
        match self.value(name)? {
            Value::Person(id) => Some(*id),
            Value::Words(_) | Value::Number(_) | Value::Flag(_) | Value::File(_) => None,
        }
    }

    /// The file given as `name`.
    pub fn file(&self, name: &str) -> Option<&GivenFile> {
        match self.value(name)? {
            Value::File(file) => Some(file),
            Value::Words(_) | Value::Number(_) | Value::Flag(_) | Value::Person(_) => None,
        }
    }
}

/// Content of a file, once it is read.
pub type Content = BoxFuture<'static, Result<Vec<u8>, Refusal>>;

/// A file that is given to a command: attached, or named by its path.
#[derive(Clone)]
pub struct GivenFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes, where the face knows it.
    pub size: Option<u64>,
    read: Arc<dyn Fn() -> Content + Send + Sync>,
}

impl GivenFile {
    /// A file of this name, which `read` reads.
    pub fn new(
        name: impl Into<String>,
        size: Option<u64>,
        read: impl Fn() -> Content + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), size, read: Arc::new(read) }
    }

    /// Its content.
    ///
    /// # Errors
    /// The future's: it cannot be read.
    pub fn content(&self) -> Content {
        (self.read)()
    }
}

impl fmt::Debug for GivenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("GivenFile").field(&self.name).finish()
    }
}
