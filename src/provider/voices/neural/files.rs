//! Reads a voice's files, and checks that an ONNX file is complete and safe for the runtime.
//!
//! Entry functions: [`bounded`], [`look_over`]. The runtime reads nested networks by recursion, so
//! deep ones overflow the stack and abort the program. It multiplies the dimensions of a tensor
//! without checking that the values exist. **Never**: trusts a length, or descends further than
//! [`MOST_DEPTH`].

use std::{
    io,
    io::Read,
    path::{Path, PathBuf},
};

use super::fields::{Fields, Value, number};
use crate::{
    files,
    provider::{Error, Kind},
};

/// Deepest nesting of messages; released voices have up to eight.
const MOST_DEPTH: usize = 32;
/// Fields of nodes, attributes and values; released voices have some ten thousand. The runtime
/// allocates a hundred bytes for the smallest.
const MOST_FIELDS: usize = 1_000_000;

pub fn shown(folders: &[PathBuf]) -> String {
    let all: Vec<String> = folders.iter().map(|it| it.display().to_string()).collect();
    all.join("' or '")
}

pub fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let shown = path.display();
    let read = || -> io::Result<Vec<u8>> {
        let file = files::open(path)?;
        let mut bytes = Vec::new();
        if let Ok(length) = usize::try_from(file.metadata()?.len().min(most)) {
            bytes.reserve_exact(length + 1);
        }
        file.take(most + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error| missing(format!("cannot read '{shown}': {error}")))?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        let text = format!("'{shown}' has more than \"{most}\" bytes, too many for a voice");
        return Err(Error::new(Kind::Protocol, text));
    }
    Ok(bytes)
}

pub fn missing(text: String) -> Error {
    Error::new(Kind::Missing, text)
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("it cannot be loaded: it is cut off or not an ONNX network")]
    Broken,
    #[error("it cannot be loaded: its networks are nested more than {MOST_DEPTH} messages deep")]
    Deep,
    #[error("it cannot be loaded: it has more than {MOST_FIELDS} parts")]
    Large,
    /// Dimensions of more values than the file has bytes.
    #[error("it cannot be loaded: it declares more numbers than it can hold")]
    Boundless,
}

/// Messages of onnx.proto that contain others of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Message {
    Model,
    Graph,
    Node,
    Attribute,
    Value,
    Type,
    Sequence,
    Tensor,
}

impl Message {
    /// Kind of message in its field `number`; `None`: not examined.
    const fn within(self, number: u64) -> Option<Self> {
        match (self, number) {
            (Self::Model, 7) | (Self::Attribute, 6 | 11) => Some(Self::Graph),
            (Self::Graph, 1) => Some(Self::Node),
            (Self::Graph | Self::Attribute, 5) => Some(Self::Tensor),
            (Self::Graph, 11..=13) => Some(Self::Value),
            (Self::Node, 5) => Some(Self::Attribute),
            (Self::Value, 2) | (Self::Sequence, 1) => Some(Self::Type),
            (Self::Type, 4) => Some(Self::Sequence),
            _ => None,
        }
    }
}

/// TensorProto.dims.
const DIMENSION: u64 = 1;

struct Look {
    fields: usize,
    /// Most values of one tensor; each takes at least a byte.
    values: u64,
}

pub fn look_over(bytes: &[u8]) -> Result<(), Unfit> {
    let mut look = Look { fields: MOST_FIELDS, values: bytes.len() as u64 };
    look.look_into(Message::Model, bytes, MOST_DEPTH)
}

impl Look {
    fn look_into(&mut self, message: Message, bytes: &[u8], depth: usize) -> Result<(), Unfit> {
        let depth = depth.checked_sub(1).ok_or(Unfit::Deep)?;
        let mut values = 1;
        let mut fields = Fields::of(bytes);
        for field in fields.by_ref() {
            self.fields = self.fields.checked_sub(1).ok_or(Unfit::Large)?;
            let is_dimension = message == Message::Tensor && field.number == DIMENSION;
            match field.held {
                Value::Number(size) if is_dimension => values = self.times(values, size)?,
                Value::Bytes(mut packed) if is_dimension => {
                    while !packed.is_empty() {
                        let size = number(&mut packed).ok_or(Unfit::Broken)?;
                        values = self.times(values, size)?;
                    }
                }
                Value::Bytes(content) => {
                    if let Some(inner) = message.within(field.number) {
                        self.look_into(inner, content, depth)?;
                    }
                }
                _ => {}
            }
        }
        if fields.is_at_end() { Ok(()) } else { Err(Unfit::Broken) }
    }

    /// Multiplies the number of values by `size`; zero counts as one, as more dimensions may
    /// follow.
    fn times(&self, values: u64, size: u64) -> Result<u64, Unfit> {
        let values = values.checked_mul(size.max(1));
        values.filter(|values| *values <= self.values).ok_or(Unfit::Boundless)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u8, content: &[u8]) -> Vec<u8> {
        let mut out = vec![number << 3 | 2];
        let mut length = content.len();
        while length >= 0x80 {
            out.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
            length >>= 7;
        }
        out.push(u8::try_from(length).unwrap());
        out.extend_from_slice(content);
        out
    }

    fn nested(levels: usize) -> Vec<u8> {
        let mut graph = message(2, b"innermost");
        for _ in 0..levels {
            graph = message(1, &message(5, &message(6, &graph)));
        }
        message(7, &graph)
    }

    #[test]
    fn file_is_whole_or_refused() {
        let whole = nested(4);
        assert_eq!(look_over(&whole), Ok(()));
        assert_eq!(look_over(b""), Ok(()), "the runtime says that it has no network");
        for end in 1..whole.len() {
            assert_eq!(look_over(&whole[..end]), Err(Unfit::Broken), "{end}");
        }
        for broken in [&[0x3a][..], &[0xff; 12], &[0x3b, 0], &[0x3a, 0xff, 0xff, 0xff, 0x7f, 0]] {
            assert_eq!(look_over(broken), Err(Unfit::Broken), "{broken:?}");
        }
    }

    #[test]
    fn deep_or_large_files_are_refused() {
        assert_eq!(look_over(&nested(10)), Ok(()));
        assert_eq!(look_over(&nested(11)), Err(Unfit::Deep));
        assert_eq!(look_over(&nested(3_000)), Err(Unfit::Deep));
        let mut kind = Vec::new();
        for _ in 0..40 {
            kind = message(4, &message(1, &kind));
        }
        let value = message(12, &message(2, &kind));
        assert_eq!(look_over(&message(7, &value)), Err(Unfit::Deep));
        let empty = message(1, b"").repeat(MOST_FIELDS);
        assert_eq!(look_over(&message(7, &empty)), Err(Unfit::Large));
    }

    #[test]
    fn dimensions_that_no_file_fills_are_refused() {
        let with = |dimensions: &[u8]| look_over(&message(7, &message(5, dimensions)));
        assert_eq!(with(&[8, 2, 8, 0, 8, 3, 8, 1]), Ok(()));
        assert_eq!(with(&message(1, &[2, 3, 1])), Ok(()));
        let most = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f];
        let negative = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        for huge in [&most[..], &negative, &[127, 127]] {
            assert_eq!(with(&message(1, huge)), Err(Unfit::Boundless), "{huge:?}");
        }
        assert_eq!(with(&[&[8][..], &most].concat()), Err(Unfit::Boundless));
        assert_eq!(with(&[&[8, 0, 8][..], &most].concat()), Err(Unfit::Boundless));
    }
}
