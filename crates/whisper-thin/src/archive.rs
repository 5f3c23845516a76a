//! Reader of CTranslate2's `model.bin`, binary version 6.
//!
//! Source: `python/ctranslate2/specs/model_spec.py` of CTranslate2. Little endian: u32 version,
//! string spec, u32 revision, u32 number of variables, then each variable {string name, u8 rank,
//! u32 × rank dimensions, u8 type, u32 bytes, values}, then u32 number of aliases, each {string
//! alias, string name}. A string is a u16 length, which includes the closing zero, and its bytes.
//!
//! The file is not trusted: every length is checked against the rest of the file before anything is
//! allocated, and all values together are read at most once, however many aliases name them.

use std::collections::HashMap;
use std::io::{BufReader, Read, Seek, SeekFrom};

use crate::error::{LoadError, shortened};

/// The largest released model has about 1,600 variables.
const MOST_VARIABLES: u32 = 16_384;
/// Convolutions have three dimensions.
const MOST_DIMENSIONS: u8 = 4;
const F32: u8 = 0;
const INT16: u8 = 2;
const F16: u8 = 4;
const BF16: u8 = 5;

struct Variable {
    shape: Vec<usize>,
    kind: u8,
    at: u64,
    bytes: u64,
}

pub(crate) struct Archive<R> {
    source: BufReader<R>,
    variables: HashMap<String, Variable>,
    aliases: HashMap<String, String>,
    /// Bytes that may still be read as values; starts at the file's size.
    budget: u64,
}

/// Reads forward and knows how much is left.
struct Cursor<'a, R> {
    source: &'a mut BufReader<R>,
    at: u64,
    end: u64,
}

impl<R: Read + Seek> Cursor<'_, R> {
    fn needs(&self, what: &'static str, needs: u64) -> Result<(), LoadError> {
        let left = self.end.saturating_sub(self.at);
        if needs > left {
            return Err(LoadError::CutShort { what, at: self.at, needs, left });
        }
        Ok(())
    }

    fn bytes<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], LoadError> {
        self.needs(what, N as u64)?;
        let mut bytes = [0; N];
        self.source.read_exact(&mut bytes)?;
        self.at += N as u64;
        Ok(bytes)
    }

    fn number(&mut self, what: &'static str) -> Result<u32, LoadError> {
        Ok(u32::from_le_bytes(self.bytes(what)?))
    }

    fn text(&mut self, what: &'static str) -> Result<String, LoadError> {
        let at = self.at;
        let length = u16::from_le_bytes(self.bytes(what)?);
        self.needs(what, length.into())?;
        let mut bytes = vec![0; length.into()];
        self.source.read_exact(&mut bytes)?;
        self.at += u64::from(length);
        if bytes.last() == Some(&0) {
            bytes.pop();
        }
        String::from_utf8(bytes).map_err(|_| LoadError::Damaged { at, why: "a name is not UTF-8" })
    }

    fn variable(&mut self) -> Result<(String, Variable), LoadError> {
        let at = self.at;
        let name = self.text("the name of a variable")?;
        let [rank] = self.bytes("a rank")?;
        if rank > MOST_DIMENSIONS {
            return Err(LoadError::Damaged { at, why: "a variable has more than four dimensions" });
        }
        let mut shape = Vec::with_capacity(rank.into());
        for _ in 0..rank {
            shape.push(self.number("a dimension")? as usize);
        }
        let [kind] = self.bytes("a type")?;
        let bytes = self.number("a size")?.into();
        self.needs("the values of a variable", bytes)?;
        let values = self.at;
        self.at += bytes;
        self.source.seek_relative(bytes.cast_signed())?;
        Ok((name, Variable { shape, kind, at: values, bytes }))
    }
}

impl<R: Read + Seek> Archive<R> {
    pub(crate) fn open(mut source: R) -> Result<Self, LoadError> {
        let end = source.seek(SeekFrom::End(0))?;
        source.rewind()?;
        let mut source = BufReader::with_capacity(1 << 16, source);
        let mut cursor = Cursor { source: &mut source, at: 0, end };
        let found = cursor.number("the version")?;
        if found != 6 {
            return Err(LoadError::Version { found });
        }
        let spec = cursor.text("the kind of model")?;
        if spec != "WhisperSpec" {
            return Err(LoadError::Kind { found: shortened(&spec) });
        }
        cursor.number("the revision")?;
        let (at, count) = (cursor.at, cursor.number("the number of variables")?);
        if count > MOST_VARIABLES {
            return Err(LoadError::Damaged { at, why: "more variables than any model has" });
        }
        let mut variables = HashMap::new();
        for _ in 0..count {
            let at = cursor.at;
            let (name, variable) = cursor.variable()?;
            if variables.insert(name, variable).is_some() {
                return Err(LoadError::Damaged { at, why: "a variable is there twice" });
            }
        }
        let (at, count) = (cursor.at, cursor.number("the number of aliases")?);
        if count > MOST_VARIABLES {
            return Err(LoadError::Damaged { at, why: "more aliases than any model has" });
        }
        let mut aliases = HashMap::new();
        for _ in 0..count {
            aliases.insert(cursor.text("an alias")?, cursor.text("what an alias stands for")?);
        }
        Ok(Self { source, variables, aliases, budget: end })
    }

    /// The variable with this name or alias.
    fn find(&self, name: &str) -> Result<&Variable, LoadError> {
        let aliased = || self.variables.get(self.aliases.get(name)?);
        let found = self.variables.get(name).or_else(aliased);
        found.ok_or_else(|| LoadError::Missing { name: name.to_owned() })
    }

    /// Dimensions of a variable, which must be `N`, none of them zero.
    pub(crate) fn shape<const N: usize>(&self, name: &str) -> Result<[usize; N], LoadError> {
        let found = &self.find(name)?.shape;
        match <[usize; N]>::try_from(found.as_slice()) {
            Ok(shape) if !shape.contains(&0) => Ok(shape),
            _ => Err(LoadError::Shape {
                name: name.to_owned(),
                found: found.clone(),
                wanted: format!("{N} dimensions above zero"),
            }),
        }
    }

    pub(crate) fn layers(&self, side: &str) -> usize {
        let there =
            |i: &usize| self.shape::<1>(&format!("{side}/layer_{i}/ffn/layer_norm/gamma")).is_ok();
        (0..).take_while(there).count()
    }

    /// A single int16, where the file has it.
    pub(crate) fn small_number(&mut self, name: &str) -> Result<Option<i16>, LoadError> {
        let at = match self.find(name) {
            Ok(Variable { kind: INT16, bytes: 2, at, .. }) => *at,
            Ok(variable) => {
                return Err(LoadError::Type { name: name.to_owned(), found: variable.kind });
            }
            Err(_) => return Ok(None),
        };
        self.source.seek(SeekFrom::Start(at))?;
        let mut bytes = [0; 2];
        self.source.read_exact(&mut bytes)?;
        Ok(Some(i16::from_le_bytes(bytes)))
    }

    pub(crate) fn values(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, LoadError> {
        let mut values = Vec::new();
        self.rows(name, shape, |row| values.extend_from_slice(row))?;
        values.shrink_to_fit();
        Ok(values)
    }

    /// Calls `each` for every row of a variable of this shape; the last dimension is the length of
    /// a row.
    pub(crate) fn rows(
        &mut self,
        name: &str,
        shape: &[usize],
        mut each: impl FnMut(&[f32]),
    ) -> Result<(), LoadError> {
        let variable = self.find(name)?;
        let (kind, at, bytes) = (variable.kind, variable.at, variable.bytes);
        let width = match kind {
            F32 => 4,
            F16 | BF16 => 2,
            found => return Err(LoadError::Type { name: name.to_owned(), found }),
        };
        let size = shape.iter().try_fold(width, |size: usize, n| size.checked_mul(*n));
        if variable.shape != shape || size.is_none_or(|size| size as u64 != bytes) {
            let wanted = format!("{shape:?} in {bytes} bytes");
            return Err(LoadError::Shape {
                name: name.to_owned(),
                found: variable.shape.clone(),
                wanted,
            });
        }
        let left = self.budget.checked_sub(bytes);
        self.budget = left.ok_or_else(|| LoadError::Shared { name: name.to_owned() })?;
        self.source.seek(SeekFrom::Start(at))?;
        let columns = shape.last().copied().unwrap_or(1);
        let mut raw = vec![0; columns * width];
        let mut row = vec![0.0; columns];
        for _ in 0..shape[..shape.len().saturating_sub(1)].iter().product() {
            self.source.read_exact(&mut raw)?;
            if !widen(&raw, kind, &mut row) {
                return Err(LoadError::NotFinite { name: name.to_owned() });
            }
            each(&row);
        }
        Ok(())
    }
}

/// Converts values of a file to f32; false if one is not finite.
fn widen(raw: &[u8], kind: u8, row: &mut [f32]) -> bool {
    let mut finite = true;
    if kind == F32 {
        for (x, bytes) in row.iter_mut().zip(raw.as_chunks::<4>().0) {
            *x = f32::from_le_bytes(*bytes);
            finite &= x.is_finite();
        }
        return finite;
    }
    for (x, bytes) in row.iter_mut().zip(raw.as_chunks::<2>().0) {
        let bits = u32::from(u16::from_le_bytes(*bytes));
        if kind == BF16 {
            *x = f32::from_bits(bits << 16);
            finite &= x.is_finite();
        } else {
            *x = half(bits);
            finite &= bits & 0x7c00 != 0x7c00;
        }
    }
    finite
}

/// A finite IEEE half: moves exponent and mantissa into place and corrects the bias by a
/// multiplication, which also handles subnormals.
fn half(bits: u32) -> f32 {
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * f32::from_bits((127 + 112) << 23);
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_exact() {
        let expected = [(0x3c00, 1.0), (0xc000, -2.0), (0x0001, 5.960_464_5e-8), (0x7bff, 65504.0)];
        for (bits, value) in expected {
            assert_eq!(half(bits).to_bits(), f32::to_bits(value));
        }
        assert_eq!(half(0x8000).to_bits(), (-0.0f32).to_bits());
    }

    #[test]
    fn values_that_are_not_finite_are_seen() {
        let mut row = [0.0; 2];
        assert!(widen(&[0x00, 0x3c, 0xff, 0x7b], F16, &mut row));
        assert!(!widen(&[0x00, 0x3c, 0x00, 0x7c], F16, &mut row));
        assert!(!widen(&[0x00, 0x3c, 0xc0, 0x7f], BF16, &mut row));
        assert!(!widen(&f32::NAN.to_le_bytes(), F32, &mut row));
    }
}
