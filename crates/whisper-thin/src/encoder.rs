//! The encoder: two convolutions and layers of self-attention, over the positions of a plan.
//!
//! Each layer takes two passes over blocks of rows: queries, keys and values of all rows, then
//! attention and the rest.

use std::io::{Read, Seek};

use crate::archive::Archive;
use crate::attention::{Asked, Heads, Queries};
use crate::error::LoadError;
use crate::kernels::{KeyValue, gelu};
use crate::layers::{Dense, Norm, Size};
use crate::mel::Mel;
use crate::window::Plan;
use crate::work::{Cancelled, Crew, Stop, sized};

/// Rows of a block: enough for fast matrix products, few enough that each step takes a few
/// milliseconds, after which a stop is noticed.
const BLOCK: usize = 96;
/// 30 s, the limit of all released models.
const MOST_POSITIONS: usize = 1500;
/// Values of a frame of features; the largest released models have 128.
const MOST_BANDS: usize = 128;
/// Largest inner width of a layer, in row widths; released models have 4. Many rows are computed at
/// once, so a far wider layer would need memory out of proportion to the file.
const MOST_HIDDEN: usize = 16;

struct Layer {
    heads: Heads,
    attention_norm: Norm,
    qkv: Dense,
    attention_out: Dense,
    hidden_norm: Norm,
    up: Dense,
    down: Dense,
    hidden: usize,
}

pub(crate) struct Encoder {
    pub(crate) bands: usize,
    /// Positions of 20 ms, two frames each.
    pub(crate) positions: usize,
    /// The same in all layers.
    pub(crate) heads: Heads,
    first: Dense,
    second: Dense,
    places: Vec<f32>,
    layers: Vec<Layer>,
    norm: Norm,
}

#[derive(Default)]
pub(crate) struct Room {
    pub(crate) rows: Vec<f32>,
    frames: Vec<f32>,
    convolved: Vec<f32>,
    stem: Vec<f32>,
    silence: Vec<f32>,
    qkv: Vec<f32>,
    threads: Vec<Bench>,
}

#[derive(Default)]
struct Bench {
    row: Vec<f32>,
    hidden: Vec<f32>,
    scores: Vec<f32>,
}

impl Layer {
    fn load<R: Read + Seek>(
        archive: &mut Archive<R>,
        at: &str,
        heads: Heads,
    ) -> Result<Self, LoadError> {
        let width = heads.width;
        let hidden = hidden(archive, at, width)?;
        let mut dense = |name: &str, inputs, outputs| {
            Dense::load(archive, &format!("{at}/{name}"), Size { inputs, outputs })
        };
        Ok(Self {
            heads,
            hidden,
            qkv: dense("self_attention/linear_0", width, 3 * width)?,
            attention_out: dense("self_attention/linear_1", width, width)?,
            up: dense("ffn/linear_0", width, hidden)?,
            down: dense("ffn/linear_1", hidden, width)?,
            attention_norm: Norm::load(archive, &format!("{at}/self_attention/layer_norm"), width)?,
            hidden_norm: Norm::load(archive, &format!("{at}/ffn/layer_norm"), width)?,
        })
    }

    /// The rest of the layer after queries, keys and values, for the rows `x`. After a stop `x` is
    /// incomplete.
    fn rest(&self, x: &mut [f32], asked: Asked, bench: &mut Bench, stop: &Stop) {
        let width = self.heads.width;
        let row = sized(&mut bench.row, x.len());
        self.heads.many(asked, &mut bench.scores, row, stop);
        if stop.now() {
            return;
        }
        self.attention_out.apply(row, width, true, x);
        self.hidden_norm.apply(x, row);
        let hidden = sized(&mut bench.hidden, x.len() / width * self.hidden);
        self.up.apply(row, width, false, hidden);
        gelu(hidden);
        if !stop.now() {
            self.down.apply(hidden, self.hidden, true, x);
        }
    }
}

impl Encoder {
    pub(crate) fn load<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Self, LoadError> {
        let places = "encoder/position_encodings/encodings";
        let [positions, width] = archive.shape(places)?;
        if positions > MOST_POSITIONS {
            let (name, found) = (places.to_owned(), vec![positions, width]);
            return Err(LoadError::Shape {
                name,
                found,
                wanted: "at most 1500 positions".to_owned(),
            });
        }
        let convolution = "encoder/conv1/weight";
        let [outputs, bands, taps] = archive.shape(convolution)?;
        if bands > MOST_BANDS {
            let (name, found) = (convolution.to_owned(), vec![outputs, bands, taps]);
            let wanted = format!("at most {MOST_BANDS} bands of sound");
            return Err(LoadError::Shape { name, found, wanted });
        }
        let heads = heads(archive, "encoder", width)?;
        let layers = (0..archive.layers("encoder"))
            .map(|i| Layer::load(archive, &format!("encoder/layer_{i}"), heads))
            .collect::<Result<_, _>>()?;
        let first = Size { inputs: bands, outputs: width };
        let second = Size { inputs: width, outputs: width };
        Ok(Self {
            bands,
            positions,
            heads,
            first: Dense::load_convolution(archive, "encoder/conv1", first)?,
            second: Dense::load_convolution(archive, "encoder/conv2", second)?,
            places: archive.values(places, &[positions, width])?,
            layers,
            norm: Norm::load(archive, "encoder/layer_norm", width)?,
        })
    }

    /// Encodes the plan's positions into `room.rows`, one row each.
    pub(crate) fn run(
        &self,
        mel: &Mel,
        plan: &Plan,
        room: &mut Room,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let width = self.heads.width;
        self.begin(mel, plan, room, crew)?;
        let Room { rows, qkv, threads, .. } = room;
        let qkv = sized(qkv, plan.places.len() * 3 * width);
        let block = crew.block(plan.places.len(), BLOCK);
        for layer in &self.layers {
            let jobs = qkv.chunks_mut(block * 3 * width).zip(rows.chunks(block * width));
            crew.each(threads, jobs, |bench, (qkv, x)| {
                let row = sized(&mut bench.row, x.len());
                layer.attention_norm.apply(x, row);
                layer.qkv.apply(row, width, false, qkv);
            })?;
            let bias = &plan.bias;
            let seen =
                KeyValue { rows: qkv, stride: 3 * width, key: width, value: 2 * width, bias };
            let jobs = rows.chunks_mut(block * width).zip(qkv.chunks(block * 3 * width));
            crew.each(threads, jobs, |bench, (x, queries)| {
                let queries = Queries { rows: queries, stride: 3 * width };
                layer.rest(x, Asked { queries, seen }, bench, crew.stop);
            })?;
        }
        crew.each(threads, rows.chunks_mut(block * width), |bench, x| {
            let row = sized(&mut bench.row, x.len());
            self.norm.apply(x, row);
            x.copy_from_slice(row);
        })
    }

    /// Computes the input of the layers: convolved features plus positional encoding. Convolves the
    /// frames of the sound, one stretch of silence, which is the same everywhere, and the window's
    /// end.
    fn begin(&self, mel: &Mel, plan: &Plan, room: &mut Room, crew: Crew) -> Result<(), Cancelled> {
        let (width, bands) = (self.heads.width, self.bands);
        let Room { rows, frames, convolved, stem, silence, threads, .. } = room;
        threads.resize_with(crew.threads, Bench::default);
        let near = ((mel.rows.len() / bands).div_ceil(2) + 2).min(self.positions);
        // two more frames unless the window ends here, so that its end is not heard
        let count = 2 * near + if near < self.positions { 2 } else { 0 };
        frames.clear();
        frames.resize(8 * bands, mel.silence);
        self.convolve(frames, convolved, silence, crew)?;
        frames.clear();
        frames.extend_from_slice(&mel.rows);
        frames.resize(count * bands, mel.silence);
        self.convolve(frames, convolved, stem, crew)?;
        rows.clear();
        for &place in &plan.places {
            // the second of the four rows of silence is in its middle, the last at the window's end
            let from = match place {
                _ if place < near => &stem[place * width..],
                _ if place + 1 == self.positions => &silence[3 * width..],
                _ => &silence[width..],
            };
            let encoding = &self.places[place * width..][..width];
            rows.extend(from.iter().zip(encoding).map(|(x, place)| x + place));
        }
        Ok(())
    }

    /// Both convolutions, with digital silence around the frames; the second at every other row.
    fn convolve(
        &self,
        frames: &mut Vec<f32>,
        convolved: &mut Vec<f32>,
        out: &mut Vec<f32>,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let (width, bands) = (self.heads.width, self.bands);
        let count = frames.len() / bands;
        frames.splice(..0, std::iter::repeat_n(0.0, bands));
        frames.resize((count + 2) * bands, 0.0);
        let mut threads = vec![(); crew.threads.min(count.div_ceil(2 * BLOCK))];
        let convolved = sized(convolved, (count + 2) * width);
        convolved[..width].fill(0.0);
        convolved[(count + 1) * width..].fill(0.0);
        let middle = &mut convolved[width..(count + 1) * width];
        let block = crew.block(count, 2 * BLOCK);
        crew.each(&mut threads, middle.chunks_mut(block * width).enumerate(), |(), (i, y)| {
            self.first.apply(&frames[i * block * bands..], bands, false, y);
            gelu(y);
        })?;
        let rows = count / 2;
        let block = crew.block(rows, BLOCK);
        let out = sized(out, rows * width);
        crew.each(&mut threads, out.chunks_mut(block * width).enumerate(), |(), (i, y)| {
            self.second.apply(&convolved[2 * i * block * width..], 2 * width, false, y);
            gelu(y);
        })
    }
}

/// Inner width of the layer at `at`, whose rows have `width` values.
pub(crate) fn hidden<R: Read + Seek>(
    archive: &Archive<R>,
    at: &str,
    width: usize,
) -> Result<usize, LoadError> {
    let name = format!("{at}/ffn/linear_0/bias");
    let [hidden] = archive.shape(&name)?;
    if hidden > MOST_HIDDEN.saturating_mul(width) {
        let wanted = format!("at most {MOST_HIDDEN} times as wide as the model ({width})");
        return Err(LoadError::Shape { name, found: vec![hidden], wanted });
    }
    Ok(hidden)
}

/// Number of heads in the file; by default one per 64 values of a row, as in all released models.
pub(crate) fn heads<R: Read + Seek>(
    archive: &mut Archive<R>,
    side: &str,
    width: usize,
) -> Result<Heads, LoadError> {
    let name = format!("{side}/num_heads");
    let stored = archive.small_number(&name)?.map(|n| usize::try_from(n).unwrap_or(0));
    let count = stored.unwrap_or(width / 64);
    if count == 0 || !width.is_multiple_of(count) {
        let wanted = format!("a divisor of {width}");
        return Err(LoadError::Shape { name, found: vec![count], wanted });
    }
    Ok(Heads { width, count })
}
