//! Attention of several queries by matrix products; a single query is a kernel.

use crate::kernels::{KeyValue, Matrix, MatrixMut, attend, multiply, softmax};
use crate::work::{Stop, sized};

#[derive(Clone, Copy)]
pub(crate) struct Queries<'a> {
    /// Starts at the first query's first value.
    pub(crate) rows: &'a [f32],
    /// Values from one query to the next.
    pub(crate) stride: usize,
}

#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) queries: Queries<'a>,
    pub(crate) seen: KeyValue<'a>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    /// Length of a row.
    pub(crate) width: usize,
    pub(crate) count: usize,
}

impl Heads {
    fn each(self) -> impl Iterator<Item = std::ops::Range<usize>> {
        let size = self.width / self.count;
        (0..self.count).map(move |i| i * size..(i + 1) * size)
    }

    /// Attention of one query per row of `out`. After a stop `out` is incomplete.
    pub(crate) fn many(self, asked: Asked, scratch: &mut Vec<f32>, out: &mut [f32], stop: &Stop) {
        let Asked { queries, seen } = asked;
        let (rows, positions) = (out.len() / self.width, seen.bias.len());
        let scores = sized(scratch, rows * positions);
        for head in self.each() {
            if stop.now() {
                return;
            }
            let size = head.len();
            let query = Matrix::new(&queries.rows[head.start..], rows, size, queries.stride);
            let keys =
                Matrix::new(&seen.rows[seen.key + head.start..], positions, size, seen.stride);
            let values =
                Matrix::new(&seen.rows[seen.value + head.start..], positions, size, seen.stride);
            let scale = 1.0 / (size as f32).sqrt();
            let target = MatrixMut::new(scores, rows, positions, positions);
            multiply(query, keys.transposed(), scale, false, target);
            for row in scores.chunks_exact_mut(positions) {
                softmax(row, seen.bias);
            }
            let scores = Matrix::new(scores, rows, positions, positions);
            let target = MatrixMut::new(&mut out[head.start..], rows, size, self.width);
            multiply(scores, values, 1.0, false, target);
        }
    }

    /// Attention of one query over the first `positions` rows of `seen`.
    pub(crate) fn one(
        self,
        query: &[f32],
        seen: KeyValue,
        scratch: &mut Vec<f32>,
        out: &mut [f32],
    ) {
        let scores = sized(scratch, seen.bias.len());
        for head in self.each() {
            let (key, value) = (seen.key + head.start, seen.value + head.start);
            let seen = KeyValue { key, value, ..seen };
            attend(&query[head.clone()], seen, scores, &mut out[head]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_queries_are_answered_as_one_by_one() {
        let heads = Heads { width: 16, count: 2 };
        let value = |i: usize| ((i * 73) % 41) as f32 / 20.0 - 1.0;
        let rows: Vec<f32> = (0..9 * 32).map(value).collect();
        let bias: Vec<f32> = (0..9).map(value).collect();
        let seen = KeyValue { rows: &rows, stride: 32, key: 0, value: 16, bias: &bias };
        let queries: Vec<f32> = (0..5 * 16).map(|i| value(i + 3)).collect();
        let (mut many, mut one, mut scratch) = (vec![0.0; 80], vec![0.0; 80], Vec::new());
        let all = Queries { rows: &queries, stride: 16 };
        let asked = Asked { queries: all, seen };
        heads.many(asked, &mut scratch, &mut many, &Stop::new(&|| false));
        for (query, out) in queries.chunks(16).zip(one.chunks_mut(16)) {
            heads.one(query, seen, &mut scratch, out);
        }
        assert!(many.iter().zip(&one).all(|(a, b)| (a - b).abs() < 1e-5));
    }
}
