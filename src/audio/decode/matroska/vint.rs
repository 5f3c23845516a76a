//! Matroska's variable-length numbers: [`vint`].

use super::super::bytes::Bytes;
use crate::audio::pcm::to_usize;

/// A number whose first byte encodes its length, without that mark; the inner `None` is "unknown".
pub fn vint(bytes: &mut Bytes<'_>) -> Option<Option<u64>> {
    let first = bytes.u8()?;
    let rest = first.leading_zeros();
    let low = u64::from(first) & (0x7F_u64 >> rest.min(7));
    let more = bytes.take(to_usize(rest.into())).filter(|_| rest < 8)?;
    let value = more.iter().fold(low, |value, &byte| value << 8 | u64::from(byte));
    let is_unknown = value == (1 << (7 * (rest + 1))) - 1;
    Some((!is_unknown).then_some(value))
}
