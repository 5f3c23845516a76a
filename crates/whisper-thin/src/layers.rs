//! The layers of encoder and decoder, read from the archive with their shapes checked.

use std::io::{Read, Seek};

use crate::archive::Archive;
use crate::error::LoadError;
use crate::kernels::{Matrix, MatrixMut, dot_rows, layer_norm, multiply, quantise};
use crate::work::{Cancelled, Crew};

pub(crate) struct Norm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl Norm {
    /// Reads `NAME/gamma` and `NAME/beta`.
    pub(crate) fn load<R: Read + Seek>(
        archive: &mut Archive<R>,
        name: &str,
        width: usize,
    ) -> Result<Self, LoadError> {
        Ok(Self {
            gain: archive.values(&format!("{name}/gamma"), &[width])?,
            shift: archive.values(&format!("{name}/beta"), &[width])?,
        })
    }

    pub(crate) fn apply(&self, x: &[f32], out: &mut [f32]) {
        let width = self.gain.len();
        for (x, out) in x.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
            layer_norm(x, &self.gain, &self.shift, out);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

/// A layer in f32 for many rows at once.
pub(crate) struct Dense {
    /// One row of outputs per input.
    weights: Vec<f32>,
    bias: Vec<f32>,
}

impl Dense {
    /// Reads `NAME/weight` and `NAME/bias`.
    pub(crate) fn load<R: Read + Seek>(
        archive: &mut Archive<R>,
        name: &str,
        size: Size,
    ) -> Result<Self, LoadError> {
        let stored = archive.values(&format!("{name}/weight"), &[size.outputs, size.inputs])?;
        Ok(Self {
            weights: transposed(&stored, size.inputs),
            bias: archive.values(&format!("{name}/bias"), &[size.outputs])?,
        })
    }

    /// A convolution of width 3, as a layer over three neighbouring rows.
    pub(crate) fn load_convolution<R: Read + Seek>(
        archive: &mut Archive<R>,
        name: &str,
        size: Size,
    ) -> Result<Self, LoadError> {
        let Size { inputs, outputs } = size;
        let stored = archive.values(&format!("{name}/weight"), &[outputs, inputs, 3])?;
        let mut weights = vec![0.0; stored.len()];
        for (from, to) in stored.chunks_exact(3 * inputs).zip(weights.chunks_exact_mut(3 * inputs))
        {
            for (input, taps) in from.as_chunks::<3>().0.iter().enumerate() {
                for (tap, x) in taps.iter().enumerate() {
                    to[tap * inputs + input] = *x;
                }
            }
        }
        let weights = transposed(&weights, 3 * inputs);
        Ok(Self { weights, bias: archive.values(&format!("{name}/bias"), &[outputs])? })
    }

    /// Computes the rows of `y` from rows of `x` that are `stride` apart. Overwrites `y`, or adds
    /// to it when `add`.
    pub(crate) fn apply(&self, x: &[f32], stride: usize, add: bool, y: &mut [f32]) {
        let outputs = self.bias.len();
        let inputs = self.weights.len() / outputs;
        let rows = y.len() / outputs;
        for row in y.chunks_exact_mut(outputs) {
            if add {
                row.iter_mut().zip(&self.bias).for_each(|(y, b)| *y += b);
            } else {
                row.copy_from_slice(&self.bias);
            }
        }
        let weights = Matrix::new(&self.weights, inputs, outputs, outputs);
        let target = MatrixMut::new(y, rows, outputs, outputs);
        multiply(Matrix::new(x, rows, inputs, stride), weights, 1.0, true, target);
    }
}

/// Inputs first: in that order the matrix product is a tenth faster.
fn transposed(weights: &[f32], columns: usize) -> Vec<f32> {
    let rows = weights.len() / columns;
    let mut out = vec![0.0; weights.len()];
    for (r, row) in weights.chunks_exact(columns).enumerate() {
        for (c, x) in row.iter().enumerate() {
            out[c * rows + r] = *x;
        }
    }
    out
}

/// A layer in int8 for a few rows; each output has its own scale.
pub(crate) struct Quantised {
    weights: Vec<i8>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    inputs: usize,
}

/// Rows as int8 in 16 bits, as the product takes them, each with its scale; reused between calls.
#[derive(Default)]
pub(crate) struct Rounded {
    values: Vec<i16>,
    scales: Vec<f32>,
    row: Vec<i8>,
}

impl Rounded {
    fn fill(&mut self, x: &[f32], columns: usize) {
        self.values.clear();
        self.scales.clear();
        self.row.resize(columns, 0);
        for row in x.chunks_exact(columns) {
            self.scales.push(quantise(row, &mut self.row));
            self.values.extend(self.row.iter().map(|&x| i16::from(x)));
        }
    }

    fn rows(&self, columns: usize) -> RoundedRows<'_> {
        RoundedRows { values: &self.values, scales: &self.scales, columns }
    }
}

#[derive(Clone, Copy)]
struct RoundedRows<'a> {
    values: &'a [i16],
    scales: &'a [f32],
    columns: usize,
}

impl<'a> RoundedRows<'a> {
    fn each(self) -> impl Iterator<Item = (&'a [i16], &'a f32)> {
        self.values.chunks_exact(self.columns).zip(self.scales)
    }

    fn blocks(self, length: usize) -> impl Iterator<Item = Self> + Send {
        let values = self.values.chunks(length * self.columns);
        let blocks = values.zip(self.scales.chunks(length));
        blocks.map(move |(values, scales)| Self { values, scales, ..self })
    }
}

/// Outputs computed at a time, from weights that stay in the nearest cache for all rows.
const STRETCH: usize = 64;
/// Rows of one job; bounds the time until a stop is noticed.
const ROWS: usize = 16;
/// Multiplications below which a second thread costs more than it saves.
const WORTH_A_THREAD: usize = 3_000_000;

impl Quantised {
    /// Reads `NAME/weight` and `NAME/bias`.
    pub(crate) fn load<R: Read + Seek>(
        archive: &mut Archive<R>,
        name: &str,
        size: Size,
    ) -> Result<Self, LoadError> {
        let mut layer = Self::load_table(archive, &format!("{name}/weight"), size)?;
        layer.bias = archive.values(&format!("{name}/bias"), &[size.outputs])?;
        Ok(layer)
    }

    /// Rows without a bias: the embeddings.
    pub(crate) fn load_table<R: Read + Seek>(
        archive: &mut Archive<R>,
        name: &str,
        size: Size,
    ) -> Result<Self, LoadError> {
        let Size { inputs, outputs } = size;
        let (mut weights, mut scales) = (Vec::new(), Vec::new());
        let mut rounded = vec![0; inputs];
        archive.rows(name, &[outputs, inputs], |row| {
            scales.push(quantise(row, &mut rounded));
            weights.extend_from_slice(&rounded);
        })?;
        weights.shrink_to_fit();
        Ok(Self { weights, scales, bias: Vec::new(), inputs })
    }

    /// Number of outputs; of the embeddings, the size of the vocabulary.
    pub(crate) fn outputs(&self) -> usize {
        self.scales.len()
    }

    /// Row `index` as f32; zeros if out of range.
    pub(crate) fn row(&self, index: usize, out: &mut [f32]) {
        out.fill(0.0);
        if let Some(row) = self.weights.chunks_exact(self.inputs).nth(index) {
            out.iter_mut().zip(row).for_each(|(out, &x)| *out = f32::from(x) * self.scales[index]);
        }
    }

    pub(crate) fn apply(
        &self,
        x: &[f32],
        y: &mut [f32],
        scratch: &mut Rounded,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        y.fill(0.0);
        self.add(x, y, scratch, crew)
    }

    pub(crate) fn add(
        &self,
        x: &[f32],
        y: &mut [f32],
        scratch: &mut Rounded,
        crew: Crew,
    ) -> Result<(), Cancelled> {
        scratch.fill(x, self.inputs);
        let rows = scratch.rows(self.inputs);
        let (count, outputs) = (rows.scales.len(), self.outputs());
        let worth = outputs * self.inputs * count > WORTH_A_THREAD;
        let mut threads = vec![(); if worth { crew.threads } else { 1 }];
        if count == 1 {
            let block = if worth { crew.block(outputs, 64 * STRETCH) } else { outputs };
            let jobs = y.chunks_mut(block).enumerate();
            return crew.each(&mut threads, jobs, |(), (i, y)| self.add_from(i * block, rows, y));
        }
        let block = crew.block(count, ROWS);
        let jobs = y.chunks_mut(block * outputs).zip(rows.blocks(block));
        crew.each(&mut threads, jobs, |(), (y, rows)| self.add_from(0, rows, y))
    }

    /// Adds the outputs from `first` on to each row of `y`, as many as fit.
    fn add_from(&self, first: usize, rows: RoundedRows, y: &mut [f32]) {
        let outputs = y.len() / rows.scales.len();
        let mut products = [0; STRETCH];
        for from in (0..outputs).step_by(STRETCH) {
            let length = STRETCH.min(outputs - from);
            let at = first + from;
            let weights = &self.weights[at * self.inputs..(at + length) * self.inputs];
            let own = &self.scales[at..at + length];
            let bias = self.bias.get(at..at + length).unwrap_or_default();
            for ((row, scale), y) in rows.each().zip(y.chunks_exact_mut(outputs)) {
                dot_rows(weights, row, &mut products[..length]);
                let y = &mut y[from..from + length];
                for ((y, product), own) in y.iter_mut().zip(&products).zip(own) {
                    *y += *product as f32 * own * scale;
                }
                y.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
            }
        }
    }
}
