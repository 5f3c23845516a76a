//! The decoder: previous tokens and encoded sound to the scores of the next token. Weights are
//! int8, because reading them is the cost of a token.

use std::io::{Read, Seek};

use crate::archive::Archive;
use crate::attention::{Asked, Heads, Queries};
use crate::encoder::{heads, hidden};
use crate::error::LoadError;
use crate::kernels::{KeyValue, gelu};
use crate::layers::{Dense, Norm, Quantised, Rounded, Size};
use crate::work::{Cancelled, Crew, sized};

/// Rows of one job when keys and values of the sound are computed.
const BLOCK: usize = 96;
/// Number of queries from which matrix products are faster than single queries.
const MANY: usize = 4;

/// Fewer tokens hold no prompt, start and word; released models have 448.
const LEAST_CONTEXT: usize = 16;

struct Layer {
    self_norm: Norm,
    qkv: Quantised,
    self_out: Quantised,
    cross_norm: Norm,
    cross_query: Quantised,
    cross_keys: Dense,
    cross_out: Quantised,
    hidden_norm: Norm,
    up: Quantised,
    down: Quantised,
}

pub(crate) struct Decoder {
    heads: Heads,
    /// Tokens that fit the window, prompt included.
    pub(crate) context: usize,
    embeddings: Quantised,
    places: Vec<f32>,
    layers: Vec<Layer>,
    norm: Norm,
}

/// State for one piece of sound and its tokens; buffers are reused between calls.
#[derive(Default)]
pub(crate) struct Room {
    /// Keys and values of the sound's positions, per layer.
    heard: Vec<Vec<f32>>,
    /// Logarithm of the number of positions that each represents.
    bias: Vec<f32>,
    pub(crate) said: Said,
    /// Scores of the next token, one per vocabulary entry.
    pub(crate) scores: Vec<f32>,
    rows: Rows,
    rounded: Rounded,
    attention: Vec<f32>,
    even: Vec<f32>,
}

#[derive(Clone, Default)]
pub(crate) struct Said {
    /// Keys and values, per layer.
    layers: Vec<Vec<f32>>,
    tokens: usize,
}

#[derive(Default)]
struct Rows {
    x: Vec<f32>,
    normed: Vec<f32>,
    query: Vec<f32>,
    attended: Vec<f32>,
    qkv: Vec<f32>,
    hidden: Vec<f32>,
}

impl Layer {
    fn load<R: Read + Seek>(
        archive: &mut Archive<R>,
        at: &str,
        width: usize,
    ) -> Result<Self, LoadError> {
        let hidden = hidden(archive, at, width)?;
        let keys = Size { inputs: width, outputs: 2 * width };
        let cross_keys = Dense::load(archive, &format!("{at}/attention/linear_1"), keys)?;
        let mut linear = |name: &str, inputs, outputs| {
            Quantised::load(archive, &format!("{at}/{name}"), Size { inputs, outputs })
        };
        Ok(Self {
            qkv: linear("self_attention/linear_0", width, 3 * width)?,
            self_out: linear("self_attention/linear_1", width, width)?,
            cross_query: linear("attention/linear_0", width, width)?,
            cross_keys,
            cross_out: linear("attention/linear_2", width, width)?,
            up: linear("ffn/linear_0", width, hidden)?,
            down: linear("ffn/linear_1", hidden, width)?,
            self_norm: Norm::load(archive, &format!("{at}/self_attention/layer_norm"), width)?,
            cross_norm: Norm::load(archive, &format!("{at}/attention/layer_norm"), width)?,
            hidden_norm: Norm::load(archive, &format!("{at}/ffn/layer_norm"), width)?,
        })
    }
}

impl Room {
    pub(crate) fn forget_tokens(&mut self) {
        self.said.tokens = 0;
        self.said.layers.iter_mut().for_each(Vec::clear);
    }
}

impl Decoder {
    pub(crate) fn load<R: Read + Seek>(archive: &mut Archive<R>) -> Result<Self, LoadError> {
        let table = "decoder/embeddings/weight";
        let [outputs, width] = archive.shape(table)?;
        let places = "decoder/position_encodings/encodings";
        let [context, _] = archive.shape(places)?;
        if context < LEAST_CONTEXT {
            let (name, found) = (places.to_owned(), vec![context, width]);
            let wanted = format!("at least {LEAST_CONTEXT} tokens");
            return Err(LoadError::Shape { name, found, wanted });
        }
        let heads = heads(archive, "decoder", width)?;
        let embeddings = Quantised::load_table(archive, table, Size { inputs: width, outputs })?;
        let layers = (0..archive.layers("decoder"))
            .map(|i| Layer::load(archive, &format!("decoder/layer_{i}"), width))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            heads,
            context,
            embeddings,
            places: archive.values(places, &[context, width])?,
            layers,
            norm: Norm::load(archive, "decoder/layer_norm", width)?,
        })
    }

    /// Length of a row, which must equal the encoder's.
    pub(crate) fn width(&self) -> usize {
        self.heads.width
    }

    /// Number of tokens, special ones included.
    pub(crate) fn vocabulary(&self) -> usize {
        self.embeddings.outputs()
    }

    /// Takes the encoder's rows, each of which represents e^`bias` positions; forgets all tokens.
    pub(crate) fn hear(
        &self,
        rows: &[f32],
        bias: &[f32],
        room: &mut Room,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let width = self.width();
        room.forget_tokens();
        room.bias.clear();
        room.bias.extend_from_slice(bias);
        room.heard.resize_with(self.layers.len(), Vec::new);
        room.said.layers.resize_with(self.layers.len(), Vec::new);
        let block = crew.block(bias.len(), BLOCK);
        let mut threads = vec![(); crew.threads];
        let jobs = room.heard.iter_mut().zip(&self.layers).flat_map(|(heard, layer)| {
            let heard = sized(heard, bias.len() * 2 * width).chunks_mut(block * 2 * width);
            heard.zip(rows.chunks(block * width)).map(move |(heard, x)| (layer, heard, x))
        });
        crew.each(&mut threads, jobs, |(), (layer, heard, x)| {
            layer.cross_keys.apply(x, width, false, heard);
        })
    }

    /// Feeds tokens up to the context's limit; `room.scores` then are those of the next token.
    pub(crate) fn feed(
        &self,
        tokens: &[u32],
        room: &mut Room,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let width = self.width();
        let tokens = &tokens[..tokens.len().min(self.context - room.said.tokens)];
        let count = tokens.len();
        room.scores.resize(self.vocabulary(), 0.0);
        if count == 0 {
            return Ok(());
        }
        let x = sized(&mut room.rows.x, count * width);
        let places = self.places[room.said.tokens * width..].chunks_exact(width);
        for ((row, &token), place) in x.chunks_exact_mut(width).zip(tokens).zip(places) {
            self.embeddings.row(token as usize, row);
            row.iter_mut().zip(place).for_each(|(x, place)| *x += place);
        }
        for index in 0..self.layers.len() {
            self.attend_to_tokens(index, count, room, crew)?;
            self.attend_to_sound(index, count, room, crew)?;
            let layer = &self.layers[index];
            let Rows { x, normed, hidden, .. } = &mut room.rows;
            let (x, normed) = (sized(x, count * width), sized(normed, count * width));
            layer.hidden_norm.apply(x, normed);
            let hidden = sized(hidden, count * layer.up.outputs());
            layer.up.apply(normed, hidden, &mut room.rounded, crew)?;
            gelu(hidden);
            layer.down.add(hidden, x, &mut room.rounded, crew)?;
        }
        room.said.tokens += count;
        let last = &room.rows.x[(count - 1) * width..][..width];
        let normed = sized(&mut room.rows.normed, width);
        self.norm.apply(last, normed);
        self.embeddings.apply(normed, &mut room.scores, &mut room.rounded, crew)
    }

    fn attend_to_tokens(
        &self,
        index: usize,
        count: usize,
        room: &mut Room,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let (width, layer) = (self.width(), &self.layers[index]);
        let Rows { x, normed, qkv, attended, .. } = &mut room.rows;
        let (x, normed) = (sized(x, count * width), sized(normed, count * width));
        let (qkv, attended) = (sized(qkv, count * 3 * width), sized(attended, count * width));
        layer.self_norm.apply(x, normed);
        layer.qkv.apply(normed, qkv, &mut room.rounded, crew)?;
        let said = &mut room.said.layers[index];
        for (row, out) in qkv.chunks_exact(3 * width).zip(attended.chunks_exact_mut(width)) {
            said.extend_from_slice(&row[width..]);
            let bias = sized(&mut room.even, said.len() / (2 * width));
            let seen = KeyValue { rows: said, stride: 2 * width, key: 0, value: width, bias };
            self.heads.one(&row[..width], seen, &mut room.attention, out);
        }
        layer.self_out.add(attended, x, &mut room.rounded, crew)
    }

    fn attend_to_sound(
        &self,
        index: usize,
        count: usize,
        room: &mut Room,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        let (width, layer) = (self.width(), &self.layers[index]);
        let Rows { x, normed, query, attended, .. } = &mut room.rows;
        let (x, normed) = (sized(x, count * width), sized(normed, count * width));
        let (query, attended) = (sized(query, count * width), sized(attended, count * width));
        layer.cross_norm.apply(x, normed);
        layer.cross_query.apply(normed, query, &mut room.rounded, crew)?;
        let rows = &room.heard[index][..room.bias.len() * 2 * width];
        let seen = KeyValue { rows, stride: 2 * width, key: 0, value: width, bias: &room.bias };
        if count < MANY {
            for (query, out) in query.chunks_exact(width).zip(attended.chunks_exact_mut(width)) {
                self.heads.one(query, seen, &mut room.attention, out);
            }
        } else {
            let queries = Queries { rows: query, stride: width };
            self.heads.many(Asked { queries, seen }, &mut room.attention, attended, crew.stop);
        }
        layer.cross_out.add(attended, x, &mut room.rounded, crew)
    }
}
