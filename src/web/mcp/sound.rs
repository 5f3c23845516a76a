//! An NPC's speech as a file in an answer. Entry function: [`wav`].

use crate::campaign::Utterance48;

const RATE: u32 = 48_000;
/// Bytes of a sample.
const SAMPLE: u16 = 2;

/// The sound as a WAV file (PCM, 16 bit, mono, 48 kHz).
pub fn wav(sound: &Utterance48) -> Vec<u8> {
    let data: Vec<u8> = sound.samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    // An utterance is far below 4 GiB.
    let size = u32::try_from(data.len()).unwrap_or(u32::MAX - 36);
    let mut file = Vec::with_capacity(data.len() + 44);
    file.extend_from_slice(b"RIFF");
    file.extend_from_slice(&(size + 36).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt ");
    file.extend_from_slice(&16u32.to_le_bytes());
    // PCM, one channel.
    file.extend_from_slice(&1u16.to_le_bytes());
    file.extend_from_slice(&1u16.to_le_bytes());
    file.extend_from_slice(&RATE.to_le_bytes());
    file.extend_from_slice(&(RATE * u32::from(SAMPLE)).to_le_bytes());
    file.extend_from_slice(&SAMPLE.to_le_bytes());
    file.extend_from_slice(&(SAMPLE * 8).to_le_bytes());
    file.extend_from_slice(b"data");
    file.extend_from_slice(&size.to_le_bytes());
    file.extend_from_slice(&data);
    file
}

/// Its length, in seconds.
pub fn seconds(sound: &Utterance48) -> f64 {
    let samples = u32::try_from(sound.samples.len()).unwrap_or(u32::MAX);
    f64::from(samples) / f64::from(RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sound_becomes_a_wav_file() {
        let sound = Utterance48 { samples: vec![1, -1, 256] };
        let file = wav(&sound);
        assert_eq!(file.len(), 44 + 6);
        assert_eq!((&file[..4], &file[8..16]), (&b"RIFF"[..], &b"WAVEfmt "[..]));
        assert_eq!(file[4..8], 42u32.to_le_bytes());
        assert_eq!(file[24..28], 48_000u32.to_le_bytes());
        assert_eq!(file[40..], [6_u8, 0, 0, 0, 1, 0, 255, 255, 0, 1]);
        assert!(seconds(&Utterance48 { samples: vec![0; 24_000] }) == 0.5);
    }
}
