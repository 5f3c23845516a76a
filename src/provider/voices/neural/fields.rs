//! The fields of a message in an ONNX file.
//!
//! Entry type: [`Fields`]. **Never**: reads weights, or past what cannot be understood.

use std::ops::Range;

/// ModelProto.graph and GraphProto.node in onnx.proto.
pub const GRAPH: u64 = 7;
/// See [`GRAPH`].
pub const NODE: u64 = 1;

/// Fields of NodeProto.
pub mod node {
    /// Names of what it reads.
    pub const INPUT: u64 = 1;
    /// Names of what it makes.
    pub const OUTPUT: u64 = 2;
    /// Its own name.
    pub const NAME: u64 = 3;
    /// Name of its operation.
    pub const OPERATION: u64 = 4;
    /// Attributes of that operation.
    pub const ATTRIBUTE: u64 = 5;
}

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    /// A number of varying length.
    Number(u64),
    /// Text, or a message.
    Bytes(&'a [u8]),
    /// Four bytes.
    Word([u8; 4]),
    /// Eight bytes, which nobody here asks for.
    Long,
}

/// A field and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// Its number in the message.
    pub number: u64,
    /// All of it, with what stands before its value.
    pub place: Range<usize>,
    /// Its value.
    pub held: Value<'a>,
}

/// The fields of a message, up to where it cannot be read.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    /// The fields of `message`.
    pub const fn of(message: &'a [u8]) -> Self {
        Self { all: message, rest: message }
    }

    /// Bytes of the fields `wanted`, where the value has a length.
    pub fn bytes(self, wanted: u64) -> impl Iterator<Item = &'a [u8]> {
        self.filter_map(move |field| match field.held {
            Value::Bytes(bytes) if field.number == wanted => Some(bytes),
            _ => None,
        })
    }

    /// True if all was read.
    pub const fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    fn held(rest: &mut &'a [u8], kind: u64) -> Option<Value<'a>> {
        Some(match kind {
            0 => Value::Number(number(rest)?),
            1 => rest.split_off(..8).map(|_| Value::Long)?,
            2 => {
                let length = usize::try_from(number(rest)?).ok()?;
                Value::Bytes(rest.split_off(..length)?)
            }
            5 => Value::Word(rest.split_off(..4)?.try_into().ok()?),
            _ => return None,
        })
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let mut rest = self.rest;
        let from = self.all.len() - rest.len();
        let key = number(&mut rest)?;
        let held = Self::held(&mut rest, key & 7)?;
        self.rest = rest;
        let place = from..self.all.len() - rest.len();
        Some(Field { number: key >> 3, place, held })
    }
}

/// The number that `rest` begins with, seven bits a byte; `None`: it is cut off or of more than ten.
pub fn number(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for place in 0..10 {
        let first = rest.split_off_first()?;
        value |= u64::from(first & 0x7f) << (7 * place).min(63);
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}

/// Appends a field that holds a number.
pub fn write_number(out: &mut Vec<u8>, field: u64, value: u64) {
    push(out, field << 3);
    push(out, value);
}

/// Appends a field that holds bytes.
pub fn write_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    write_length(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends what stands before `length` bytes of a field.
pub fn write_length(out: &mut Vec<u8>, field: u64, length: usize) {
    push(out, field << 3 | 2);
    push(out, length as u64);
}

fn push(out: &mut Vec<u8>, mut value: u64) {
    while let Some(more) = Some(value >> 7).filter(|more| *more > 0) {
        out.push(value.to_le_bytes()[0] | 0x80);
        value = more;
    }
    out.push(value.to_le_bytes()[0]);
}
