//! Fields of a message in an ONNX file.
//!
//! Entry type: [`Fields`]. **Never**: reads weights, or past an invalid field.

use std::ops::Range;

/// ModelProto.graph and GraphProto.node in onnx.proto.
pub const GRAPH: u64 = 7;
pub const NODE: u64 = 1;

pub mod node {
    pub const INPUT: u64 = 1;
    pub const OUTPUT: u64 = 2;
    pub const NAME: u64 = 3;
    pub const OPERATION: u64 = 4;
    pub const ATTRIBUTE: u64 = 5;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Word([u8; 4]),
    Long,
}

/// A field and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    pub number: u64,
    /// Its bytes, tag and length included.
    pub place: Range<usize>,
    pub held: Value<'a>,
}

/// The fields of a message, up to the first invalid one.
#[derive(Clone, Debug)]
pub struct Fields<'a> {
    all: &'a [u8],
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    pub const fn of(message: &'a [u8]) -> Self {
        Self { all: message, rest: message }
    }

    /// Values of the fields `wanted` that have a length.
    pub fn bytes(self, wanted: u64) -> impl Iterator<Item = &'a [u8]> {
        self.filter_map(move |field| match field.held {
            Value::Bytes(bytes) if field.number == wanted => Some(bytes),
            _ => None,
        })
    }

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

/// The varint at the start of `rest`; `None`: cut off or longer than ten bytes.
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

pub fn write_number(out: &mut Vec<u8>, field: u64, value: u64) {
    push(out, field << 3);
    push(out, value);
}

pub fn write_bytes(out: &mut Vec<u8>, field: u64, bytes: &[u8]) {
    write_length(out, field, bytes.len());
    out.extend_from_slice(bytes);
}

/// Appends the tag and length of a field of `length` bytes.
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
