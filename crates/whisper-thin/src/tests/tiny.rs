//! A tiny Whisper whose weights are generated: 16 wide, two layers, 0.8 s, English and German.

use crate::Model;

pub(super) const WIDTH: usize = 16;
pub(super) const BANDS: usize = 80;
pub(super) const POSITIONS: usize = 40;
pub(super) const VOCABULARY: usize = 300;

/// Size of a model; the vocabulary is always the same.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) width: usize,
    pub(super) heads: u8,
    pub(super) bands: usize,
    pub(super) positions: usize,
    pub(super) context: usize,
    pub(super) hidden: usize,
    pub(super) layers: usize,
}

impl Default for Shape {
    fn default() -> Self {
        let (positions, context, hidden) = (POSITIONS, 32, 24);
        Self { width: WIDTH, heads: 2, bands: BANDS, positions, context, hidden, layers: 2 }
    }
}

/// Files of a model, to be damaged by tests.
#[derive(Clone)]
pub(super) struct Files {
    pub(super) weights: Vec<u8>,
    pub(super) tokenizer: String,
    pub(super) config: String,
    /// Offset of each variable's entry in `weights`.
    pub(super) entries: Vec<usize>,
}

/// Writes a `model.bin`; reference.py has the same generator of values.
struct Writer {
    bytes: Vec<u8>,
    entries: Vec<usize>,
    state: u32,
    /// Alternates between f16 and f32.
    half: bool,
}

impl Writer {
    fn text(&mut self, text: &str) {
        let length = u16::try_from(text.len() + 1).unwrap();
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    /// k / 256 for k from -64 to 64.
    fn value(&mut self) -> f32 {
        self.state = self.state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((self.state >> 16) % 129) as f32 / 256.0 - 0.25
    }

    fn variable(&mut self, name: &str, shape: &[usize], add: f32) {
        self.entries.push(self.bytes.len());
        self.text(name);
        self.bytes.push(u8::try_from(shape.len()).unwrap());
        for n in shape {
            self.bytes.extend(u32::try_from(*n).unwrap().to_le_bytes());
        }
        let count: usize = shape.iter().product();
        self.half = !self.half;
        self.bytes.push(if self.half { 4 } else { 0 });
        let size = count * if self.half { 2 } else { 4 };
        self.bytes.extend(u32::try_from(size).unwrap().to_le_bytes());
        for _ in 0..count {
            let value = self.value() + add;
            if self.half {
                self.bytes.extend(half(value).to_le_bytes());
            } else {
                self.bytes.extend(value.to_le_bytes());
            }
        }
    }

    fn norm(&mut self, name: &str, width: usize) {
        self.variable(&format!("{name}/gamma"), &[width], 1.0);
        self.variable(&format!("{name}/beta"), &[width], 0.0);
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) {
        self.variable(&format!("{name}/weight"), &[outputs, inputs], 0.0);
        self.variable(&format!("{name}/bias"), &[outputs], 0.0);
    }
}

/// An f32 that is exact and not subnormal in f16.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    if value == 0.0 {
        return 0;
    }
    let exponent = (bits >> 23 & 0xff) - 112;
    u16::try_from(bits >> 16 & 0x8000 | exponent << 10 | bits >> 13 & 0x3ff).unwrap()
}

pub(super) fn files() -> Files {
    shaped(Shape::default())
}

pub(super) fn shaped(shape: Shape) -> Files {
    let mut writer =
        Writer { bytes: 6u32.to_le_bytes().to_vec(), entries: Vec::new(), state: 1, half: false };
    writer.text("WhisperSpec");
    writer.bytes.extend(3u32.to_le_bytes());
    let count = writer.bytes.len();
    writer.bytes.extend([0; 4]);
    writer.decoder(shape);
    writer.encoder(shape);
    for side in ["encoder", "decoder"] {
        writer.entries.push(writer.bytes.len());
        writer.text(&format!("{side}/num_heads"));
        writer.bytes.extend([0, 2, 2, 0, 0, 0, shape.heads, 0]);
    }
    let variables = u32::try_from(writer.entries.len()).unwrap();
    writer.bytes[count..count + 4].copy_from_slice(&variables.to_le_bytes());
    writer.bytes.extend(1u32.to_le_bytes());
    writer.text("decoder/projection/weight");
    writer.text("decoder/embeddings/weight");
    let Writer { bytes: weights, entries, .. } = writer;
    Files { weights, tokenizer: tokenizer(), config: config(), entries }
}

impl Writer {
    fn decoder(&mut self, shape: Shape) {
        let Shape { width, context, .. } = shape;
        self.variable("decoder/embeddings/weight", &[VOCABULARY, width], 0.0);
        self.variable("decoder/position_encodings/encodings", &[context, width], 0.0);
        for layer in 0..shape.layers {
            let at = format!("decoder/layer_{layer}");
            self.own_attention(&at, width);
            self.norm(&format!("{at}/attention/layer_norm"), width);
            self.linear(&format!("{at}/attention/linear_0"), width, width);
            self.linear(&format!("{at}/attention/linear_1"), width, 2 * width);
            self.linear(&format!("{at}/attention/linear_2"), width, width);
            self.feed_forward(&at, shape);
        }
        self.norm("decoder/layer_norm", width);
    }

    fn encoder(&mut self, shape: Shape) {
        let Shape { width, bands, positions, .. } = shape;
        self.variable("encoder/conv1/weight", &[width, bands, 3], 0.0);
        self.variable("encoder/conv1/bias", &[width], 0.0);
        self.variable("encoder/conv2/weight", &[width, width, 3], 0.0);
        self.variable("encoder/conv2/bias", &[width], 0.0);
        self.variable("encoder/position_encodings/encodings", &[positions, width], 0.0);
        for layer in 0..shape.layers {
            let at = format!("encoder/layer_{layer}");
            self.own_attention(&at, width);
            self.feed_forward(&at, shape);
        }
        self.norm("encoder/layer_norm", width);
    }

    fn own_attention(&mut self, at: &str, width: usize) {
        self.norm(&format!("{at}/self_attention/layer_norm"), width);
        self.linear(&format!("{at}/self_attention/linear_0"), width, 3 * width);
        self.linear(&format!("{at}/self_attention/linear_1"), width, width);
    }

    fn feed_forward(&mut self, at: &str, Shape { width, hidden, .. }: Shape) {
        self.norm(&format!("{at}/ffn/layer_norm"), width);
        self.linear(&format!("{at}/ffn/linear_0"), width, hidden);
        self.linear(&format!("{at}/ffn/linear_1"), hidden, width);
    }
}

/// All bytes, two merges (" t", " th"), and the special tokens from 270 on.
fn tokenizer() -> String {
    let mut others = 0x100..;
    let letter = |byte: u8| match byte {
        33..=126 | 161..=172 | 174..=255 => char::from(byte),
        _ => char::from_u32(others.next().unwrap()).unwrap(),
    };
    let letters: Vec<char> = (0..=255).map(letter).collect();
    let mut vocab: serde_json::Map<String, serde_json::Value> =
        letters.into_iter().zip(0..).map(|(c, id)| (c.to_string(), id.into())).collect();
    vocab.insert("Ġt".to_owned(), 256.into());
    vocab.insert("Ġth".to_owned(), 257.into());
    let special = [
        "endoftext",
        "startoftranscript",
        "en",
        "de",
        "translate",
        "transcribe",
        "startoflm",
        "startofprev",
        "nospeech",
        "notimestamps",
    ];
    let added = special.iter().zip(270..).map(|(name, id)| {
        serde_json::json!({ "id": id, "content": format!("<|{name}|>"), "special": true })
    });
    let added: Vec<_> = added.collect();
    let merges = serde_json::json!(["Ġ t", ["Ġt", "h"]]);
    serde_json::json!({ "added_tokens": added, "model": { "vocab": vocab, "merges": merges } })
        .to_string()
}

fn config() -> String {
    serde_json::json!({
        "is_multilingual": true, "suppress_ids": [1, 2, 271], "suppress_ids_begin": [32, 270]
    })
    .to_string()
}

impl Files {
    pub(super) fn load(&self) -> Result<Model, crate::LoadError> {
        Model::from_bytes(&self.weights, self.tokenizer.as_bytes(), self.config.as_bytes())
    }
}

pub(super) fn model() -> Model {
    files().load().unwrap()
}

/// Two tones, far quieter in the second half; 0.56 s.
#[expect(clippy::cast_possible_truncation, reason = "made in f64 and used in f32")]
pub(super) fn signal() -> Vec<f32> {
    let tone = |hertz: f64, i: u32| (std::f64::consts::TAU * hertz * f64::from(i) / 16000.0).sin();
    let sample = |i| (0.3 * tone(440.0, i) + 0.1 * tone(1234.0, i)) as f32;
    (0..9000).map(|i| if i < 4500 { sample(i) } else { sample(i) * 0.01 }).collect()
}
