//! Text to tokens and back (byte-level BPE), and special tokens.

mod file;
mod split;

use std::collections::HashMap;

use self::file::TokenizerFile;
use crate::error::{LoadError, shortened};

/// Smallest vocabulary of a multilingual model (as in OpenAI's and CTranslate2's code).
const MULTILINGUAL: usize = 51_865;
/// Bytes of text to tokenise; more than a prompt can hold.
const MOST_TEXT: usize = 4096;

/// Tokens that direct the decoder, by their names in OpenAI's tokenizer.
pub(crate) struct Special {
    /// The end token; all tokens after it are special.
    pub(crate) end: u32,
    pub(crate) start: u32,
    pub(crate) previous: u32,
    /// `<|nospeech|>`, in older files `<|nocaptions|>`.
    pub(crate) no_speech: u32,
    /// No timestamps: text alone.
    pub(crate) no_times: u32,
    /// `<|transcribe|>`, the task; unused in English models.
    pub(crate) transcribe: u32,
}

struct Merged {
    /// Lower ranks merge first.
    rank: usize,
    piece: u32,
}

pub(crate) struct Tokens {
    pub(crate) special: Special,
    /// Code and token, in the order of the vocabulary; empty in English models.
    pub(crate) languages: Vec<(String, u32)>,
    /// Never chosen.
    pub(crate) suppressed: Vec<u32>,
    /// Never chosen as the first token.
    pub(crate) suppressed_first: Vec<u32>,
    bytes: [u32; 256],
    merges: HashMap<(u32, u32), Merged>,
    /// Bytes of all text tokens, and the end of each.
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// GPT-2's alphabet: printable bytes stand for themselves, the others for letters from U+0100 on.
fn alphabet() -> [char; 256] {
    let mut others = '\u{100}'..;
    std::array::from_fn(|byte| match u8::try_from(byte) {
        Ok(byte @ (33..=126 | 161..=172 | 174..=255)) => char::from(byte),
        _ => others.next().unwrap_or_default(),
    })
}

fn problem(token: &str, problem: &'static str) -> LoadError {
    LoadError::Token { token: shortened(token), problem }
}

impl Tokens {
    /// Reads both files for a model whose vocabulary has this size.
    pub(crate) fn read(
        tokenizer: &[u8],
        config: &[u8],
        vocabulary: usize,
    ) -> Result<Self, LoadError> {
        let file = file::tokenizer(tokenizer)?;
        let config = file::config(config)?;
        let added = added(&file, vocabulary)?;
        let find = |name: &str| {
            added.get(name).copied().ok_or_else(|| problem(name, "is not among the added tokens"))
        };
        let special = Special {
            end: find("<|endoftext|>")?,
            start: find("<|startoftranscript|>")?,
            previous: find("<|startofprev|>")?,
            no_speech: find("<|nospeech|>").or_else(|_| find("<|nocaptions|>"))?,
            no_times: find("<|notimestamps|>")?,
            transcribe: find("<|transcribe|>")?,
        };
        let (text, ends) = text_tokens(&file, special.end)?;
        let mut languages = Vec::new();
        if config.is_multilingual.unwrap_or(vocabulary >= MULTILINGUAL) {
            languages = languages_between(&added, special.start, find("<|translate|>")?);
        }
        let known =
            |ids: Vec<u32>| ids.into_iter().filter(|id| (*id as usize) < vocabulary).collect();
        Ok(Self {
            languages,
            suppressed: known(config.suppress_ids),
            suppressed_first: known(config.suppress_ids_begin),
            bytes: bytes(&file)?,
            merges: merges(&file)?,
            special,
            text,
            ends,
        })
    }

    /// Tokens of a text, none of them special, whatever it says. Only the last 4 KiB of a long text
    /// count.
    pub(crate) fn encode(&self, text: &str) -> Vec<u32> {
        let text = &text[text.ceil_char_boundary(text.len().saturating_sub(MOST_TEXT))..];
        let mut tokens = Vec::new();
        for word in split::words(text) {
            let begin = tokens.len();
            tokens.extend(word.bytes().map(|byte| self.bytes[usize::from(byte)]));
            while let Some((at, piece)) = self.best_merge(&tokens[begin..]) {
                tokens[begin + at] = piece;
                tokens.remove(begin + at + 1);
            }
        }
        tokens
    }

    /// The pair that is merged first, and its result.
    fn best_merge(&self, pieces: &[u32]) -> Option<(usize, u32)> {
        let pairs = pieces.windows(2).enumerate();
        let merged =
            pairs.filter_map(|(at, pair)| Some((at, self.merges.get(&(pair[0], pair[1]))?)));
        merged.min_by_key(|(at, merged)| (merged.rank, *at)).map(|(at, merged)| (at, merged.piece))
    }

    /// Text of tokens without blanks around it; special tokens have no text.
    pub(crate) fn decode(&self, tokens: &[u32]) -> String {
        let mut bytes = Vec::new();
        for &token in tokens {
            let token = token as usize;
            if let Some(&end) = self.ends.get(token) {
                let begin = token.checked_sub(1).map_or(0, |before| self.ends[before]);
                bytes.extend_from_slice(&self.text[begin..end]);
            }
        }
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// Added tokens by name; all must be in the vocabulary.
fn added(file: &TokenizerFile, vocabulary: usize) -> Result<HashMap<&str, u32>, LoadError> {
    let mut added = HashMap::new();
    for token in &file.added_tokens {
        if token.id as usize >= vocabulary {
            return Err(problem(&token.content, "is not in the model's vocabulary"));
        }
        added.insert(token.content.as_str(), token.id);
    }
    Ok(added)
}

fn languages_between(added: &HashMap<&str, u32>, start: u32, translate: u32) -> Vec<(String, u32)> {
    let code = |name: &str| Some(name.strip_prefix("<|")?.strip_suffix("|>")?.to_owned());
    let between = added.iter().filter(|(_, id)| (start + 1..translate).contains(*id));
    let mut found: Vec<(String, u32)> =
        between.filter_map(|(name, &id)| Some((code(name)?, id))).collect();
    found.sort_by_key(|(_, id)| *id);
    found
}

fn bytes(file: &TokenizerFile) -> Result<[u32; 256], LoadError> {
    let mut bytes = [0; 256];
    for (byte, letter) in bytes.iter_mut().zip(alphabet()) {
        let letter = letter.to_string();
        let token = file.model.vocab.get(&letter);
        *byte = *token.ok_or_else(|| problem(&letter, "is not in its own vocabulary"))?;
    }
    Ok(bytes)
}

fn merges(file: &TokenizerFile) -> Result<HashMap<(u32, u32), Merged>, LoadError> {
    let vocab = &file.model.vocab;
    let mut merges = HashMap::with_capacity(file.model.merges.len());
    for (rank, merge) in file.model.merges.iter().enumerate() {
        let (left, right) =
            merge.pair().ok_or_else(|| problem("merges", "have one without a pair"))?;
        let find = |piece: &str| {
            vocab
                .get(piece)
                .copied()
                .ok_or_else(|| problem(piece, "is merged, but not in its vocabulary"))
        };
        let piece = find(&format!("{left}{right}"))?;
        merges.entry((find(left)?, find(right)?)).or_insert(Merged { rank, piece });
    }
    Ok(merges)
}

/// Bytes of the tokens below `end`, and the end of each.
fn text_tokens(file: &TokenizerFile, end: u32) -> Result<(Vec<u8>, Vec<usize>), LoadError> {
    let byte_of: HashMap<char, u8> = alphabet().into_iter().zip(0..=255).collect();
    let mut pieces = vec![""; end as usize];
    for (piece, &id) in &file.model.vocab {
        match pieces.get_mut(id as usize) {
            Some(slot) => *slot = piece,
            None if id == end => {}
            None => return Err(problem(piece, "stands after the end token, where no text is")),
        }
    }
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    for piece in pieces {
        text.extend(piece.chars().filter_map(|c| byte_of.get(&c)));
        ends.push(text.len());
    }
    Ok((text, ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphabet_is_one_to_one() {
        let alphabet = alphabet();
        let distinct: std::collections::HashSet<char> = alphabet.into_iter().collect();
        assert_eq!(distinct.len(), 256);
        assert_eq!((alphabet[usize::from(b' ')], alphabet[usize::from(b'\n')]), ('Ġ', 'Ċ'));
        assert_eq!(alphabet[usize::from(b'a')], 'a');
    }
}
