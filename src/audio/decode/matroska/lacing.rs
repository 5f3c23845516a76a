//! The packets of a block, of which there may be several: [`packets`]; and the numbers in their
//! lengths: [`vint`].
//!
//! RFC 9559, section 10.3.

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

/// `None`: the lengths do not fit.
pub fn packets(flags: u8, mut block: Bytes<'_>) -> Option<Vec<&[u8]>> {
    let lengths = match flags >> 1 & 3 {
        0 => return Some(vec![block.0]),
        lacing => {
            let n_packets = usize::from(block.u8()?) + 1;
            match lacing {
                1 => xiph(&mut block, n_packets)?,
                3 => signed(&mut block, n_packets)?,
                _ => vec![block.0.len() / n_packets; n_packets - 1],
            }
        }
    };
    let mut packets = Vec::with_capacity(lengths.len() + 1);
    for len in lengths {
        packets.push(block.take(len)?);
    }
    // The last packet is the rest.
    packets.push(block.0);
    Some(packets)
}

/// Lengths as sums of bytes, each ending with one below 255.
fn xiph(block: &mut Bytes<'_>, n_packets: usize) -> Option<Vec<usize>> {
    let length = |_| {
        let mut len = 0;
        loop {
            let byte = block.u8()?;
            len += usize::from(byte);
            if byte < 255 {
                return Some(len);
            }
        }
    };
    (1..n_packets).map(length).collect()
}

/// The first length, then the difference of each from the one before.
fn signed(block: &mut Bytes<'_>, n_packets: usize) -> Option<Vec<usize>> {
    let mut lengths = Vec::new();
    let mut len = 0_i64;
    for at in 1..n_packets {
        let before = block.0.len();
        let value = i64::try_from(vint(block)??).ok()?;
        let n_bytes = u32::try_from(before - block.0.len()).ok()?;
        // The middle of the range encodes 0.
        let zero = if at == 1 { 0 } else { (1_i64 << (7 * n_bytes - 1)) - 1 };
        len = len.checked_add(value - zero)?;
        lengths.push(usize::try_from(len).ok()?);
    }
    Some(lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_lacing_is_undone() {
        let packets = |flags: u8, block: &'static [u8]| packets(flags << 1, Bytes(block));
        let three = Some(vec![b"a".as_slice(), b"bb", b"ccc"]);
        assert_eq!(packets(0, b"abc"), Some(vec![b"abc".as_slice()]));
        assert_eq!(packets(1, b"\x02\x01\x02abbccc"), three);
        assert_eq!(packets(3, b"\x02\x81\xC0abbccc"), three);
        assert_eq!(packets(2, b"\x02abc"), Some(vec![b"a".as_slice(), b"b", b"c"]));
        let long = [b"\x01\xff\x01".as_slice(), &[7; 256], &[8; 2]].concat();
        let found = super::packets(1 << 1, Bytes(&long)).unwrap();
        assert_eq!((found[0].len(), found[1].len()), (256, 2));
    }

    #[test]
    fn lengths_that_do_not_fit_give_nothing() {
        for (flags, block) in [
            (1_u8, b"".as_slice()),
            (1, b"\x02\xff"),
            (1, b"\x02\x05\x05abc"),
            (3, b"\x02\x81"),
            (3, b"\x02\x81\x80abc"),
            (3, b"\x02\x01\xff\xff\xff\xff\xff\xff\xff\x01\x00\x00\x00\x00\x00\x00\x00abc"),
        ] {
            assert_eq!(packets(flags << 1, Bytes(block)), None, "{block:?}");
        }
    }
}
