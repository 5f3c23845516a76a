//! Checks that the tables of a Vorbis stream fit into memory: [`codebooks_fit`].

use symphonia::core::io::{BitReaderRtl, ReadBitsRtl};

/// Table entries of all codebooks of one Vorbis stream. Encoders use some ten thousand; a crafted
/// file can ask for terabytes.
const MAX_CODEBOOK_ENTRIES: u64 = 4_000_000;

/// Identification and setup header both start with a type byte and "vorbis"; the first is 30 bytes
/// long (Vorbis I specification, 4.2).
const VORBIS_SETUP_AT: usize = 30 + 7;

/// Adds up the tables of the codebooks at the start of a Vorbis setup header; `None`: not a header.
/// Layout: Vorbis I specification, section 3.2.1.
pub fn codebooks_fit(headers: &[u8]) -> Option<bool> {
    let mut bits = BitReaderRtl::new(headers.get(VORBIS_SETUP_AT..)?);
    let n_books = bits.read_bits_leq32(8).ok()? + 1;
    let mut total = 0;
    for _ in 0..n_books {
        total += skip_codebook(&mut bits)?;
        if total > MAX_CODEBOOK_ENTRIES {
            return Some(false);
        }
    }
    Some(true)
}

/// Entries needed to decode one codebook.
fn skip_codebook(bits: &mut BitReaderRtl<'_>) -> Option<u64> {
    let _sync = bits.read_bits_leq32(24).ok()?;
    let dimensions = u64::from(bits.read_bits_leq32(16).ok()?);
    let entries = bits.read_bits_leq32(24).ok()?;
    let size = u64::from(entries) * (dimensions + 1);
    // Too large to walk; the caller stops.
    if size > MAX_CODEBOOK_ENTRIES {
        return Some(size);
    }
    skip_codeword_lengths(bits, entries)?;
    let lookup = bits.read_bits_leq32(4).ok()?;
    if lookup == 0 {
        return Some(size);
    }
    bits.ignore_bits(64).ok()?;
    let value_bits = bits.read_bits_leq32(4).ok()? + 1;
    bits.ignore_bits(1).ok()?;
    let n_values = match lookup {
        1 => lattice_values(u64::from(entries), u32::try_from(dimensions).ok()?)?,
        _ => u64::from(entries) * dimensions,
    };
    bits.ignore_bits(u32::try_from(n_values * u64::from(value_bits)).ok()?).ok()?;
    Some(size)
}

fn skip_codeword_lengths(bits: &mut BitReaderRtl<'_>, entries: u32) -> Option<()> {
    if bits.read_bool().ok()? {
        bits.ignore_bits(5).ok()?;
        let mut entry = 0;
        // Every round reads at least one bit, so a run of zeros ends with the data.
        while entry < entries {
            let n_bits = 32 - (entries - entry).leading_zeros();
            entry += bits.read_bits_leq32(n_bits).ok()?;
        }
        return (entry == entries).then_some(());
    }
    let sparse = bits.read_bool().ok()?;
    for _ in 0..entries {
        if !sparse || bits.read_bool().ok()? {
            bits.ignore_bits(5).ok()?;
        }
    }
    Some(())
}

/// The greatest number whose power of `dimensions` is at most `entries`; `None` if the codec's own
/// search would overflow.
fn lattice_values(entries: u64, dimensions: u32) -> Option<u64> {
    if entries == 0 || dimensions == 0 {
        return None;
    }
    (1..=entries).take_while(|v| v.checked_pow(dimensions).is_some_and(|p| p <= entries)).last()
}

#[cfg(test)]
mod tests;
