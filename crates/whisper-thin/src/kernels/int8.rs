//! Products of int8 weights with one vector, the main cost of a token.

use super::ROUND;

#[inline(always)]
fn quantise_body(row: &[f32], out: &mut [i8]) -> f32 {
    let mut top = 0.0f32;
    for x in row {
        top = if x.abs() > top { x.abs() } else { top };
    }
    let inverse = if top > 0.0 { 127.0 / top } else { 0.0 };
    for (out, x) in out.iter_mut().zip(row) {
        // the low byte of the sum is the rounded value
        *out = (x * inverse + ROUND).to_bits().to_le_bytes()[0].cast_signed();
    }
    top / 127.0
}
dispatch!(
    /// Rounds a row to -127..=127 times the returned scale.
    quantise = quantise_body(row: &[f32], out: &mut [i8]) -> f32
);

#[inline(always)]
fn dot_rows_body(weights: &[i8], vector: &[i16], out: &mut [i32]) {
    for (row, out) in weights.chunks_exact(vector.len()).zip(out) {
        let mut sum = 0i32;
        for (&a, &b) in row.iter().zip(vector) {
            sum = sum.wrapping_add(i32::from(a) * i32::from(b));
        }
        *out = sum;
    }
}
dispatch!(
    /// The product of each row of `weights` with `vector`, whose values are int8 in 16 bits. Exact
    /// for vectors of up to 133,000 values (127 * 127 each).
    dot_rows = dot_rows_body(weights: &[i8], vector: &[i16], out: &mut [i32])
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_builds_round_and_multiply_alike() {
        for n in [1usize, 16, 31, 64, 384] {
            let row: Vec<f32> =
                (0..n).map(|i| ((i * i * 13 + 5 * n) % 401) as f32 / 100.0 - 2.0).collect();
            let (mut a, mut b) = (vec![0; n], vec![0; n]);
            assert_eq!(quantise(&row, &mut a).to_bits(), quantise_body(&row, &mut b).to_bits());
            assert_eq!(a, b);
            let vector: Vec<i16> = b.iter().map(|&x| i16::from(x)).collect();
            let rows = a.repeat(3);
            let (mut x, mut y) = ([0; 3], [0; 3]);
            dot_rows(&rows, &vector, &mut x);
            dot_rows_body(&rows, &vector, &mut y);
            assert_eq!(x, y);
            let exact: i32 = vector.iter().map(|&v| i32::from(v) * i32::from(v)).sum();
            assert_eq!(x, [exact; 3]);
        }
    }

    #[test]
    fn rounding_is_to_nearest_and_reaches_extremes() {
        let mut out = [0; 5];
        let scale = quantise(&[-2.54, 2.54, 0.0, 0.029, -0.031], &mut out);
        assert!((scale - 0.02).abs() < 1e-8);
        assert_eq!(out, [-127, 127, 0, 1, -2]);
        assert_eq!(quantise(&[0.0; 5], &mut out), 0.0);
        assert_eq!(out, [0; 5]);
        quantise(&[f32::NAN, f32::INFINITY, 1.0], &mut out);
    }
}
