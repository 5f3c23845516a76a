//! Functions of one row: softmax, GELU, layer norm, attention of one query.

use super::ROUND;

/// e^x for x in -87..88 (values outside are clamped); relative error below 3e-7 near 0, 1e-5 at the ends.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 88.0) * std::f32::consts::LOG2_E;
    let rounded = x + ROUND;
    let f = (x - (rounded - ROUND)) * std::f32::consts::LN_2;
    let series = f * (0.041_666_67 + f * (0.008_333_334 + f * 0.001_388_889));
    let p = 1.0 + f * (1.0 + f * (0.5 + f * (0.166_666_67 + series)));
    // the low bits of `rounded` are the exponent; 127 is its bias
    p * f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23))
}

/// `f32::MIN` for an empty row.
#[inline(always)]
fn largest(row: &[f32]) -> f32 {
    let mut top = [f32::MIN; 8];
    let (chunks, rest) = row.as_chunks::<8>();
    for chunk in chunks {
        for (top, &x) in top.iter_mut().zip(chunk) {
            *top = if x > *top { x } else { *top };
        }
    }
    rest.iter().chain(&top).fold(f32::MIN, |a, &b| if b > a { b } else { a })
}

#[inline(always)]
fn total(lanes: [f32; 8]) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[inline(always)]
fn sum(row: &[f32], f: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; 8];
    let (chunks, rest) = row.as_chunks::<8>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += f(x);
        }
    }
    total(lanes) + rest.iter().map(|&x| f(x)).sum::<f32>()
}

#[inline(always)]
fn softmax_body(row: &mut [f32], bias: &[f32]) {
    for (x, b) in row.iter_mut().zip(bias) {
        *x += b;
    }
    let top = largest(row);
    for x in row.iter_mut() {
        *x = exp(*x - top);
    }
    let scale = 1.0 / sum(row, |x| x);
    for x in row {
        *x *= scale;
    }
}
dispatch!(
    /// Softmax of `row + bias`, in place.
    softmax = softmax_body(row: &mut [f32], bias: &[f32])
);

#[inline(always)]
fn gelu_body(row: &mut [f32]) {
    for x in row {
        // erf by Abramowitz and Stegun 7.1.26 (error below 1.5e-7)
        let z = x.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / (1.0 + 0.327_591_1 * z);
        let tail = t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4));
        let poly = t * (0.254_829_6 + t * (-0.284_496_74 + tail));
        let erf = 1.0 - poly * exp(-z * z);
        *x = 0.5 * (*x + x.abs() * erf);
    }
}
dispatch!(
    /// Exact GELU (by the error function, not by tanh: Whisper was trained with this one), in place.
    gelu = gelu_body(row: &mut [f32])
);

#[inline(always)]
fn layer_norm_body(row: &[f32], gain: &[f32], shift: &[f32], out: &mut [f32]) {
    let n = row.len() as f32;
    let mean = sum(row, |x| x) / n;
    let variance = sum(row, |x| (x - mean) * (x - mean)) / n;
    let scale = 1.0 / (variance + 1e-5).sqrt();
    for (((out, x), g), b) in out.iter_mut().zip(row).zip(gain).zip(shift) {
        *out = (x - mean) * scale * g + b;
    }
}
dispatch!(
    /// Layer norm of one row, epsilon 1e-5.
    layer_norm = layer_norm_body(row: &[f32], gain: &[f32], shift: &[f32], out: &mut [f32])
);

#[inline(always)]
fn log_sum_body(row: &[f32]) -> (f32, f32) {
    let top = largest(row);
    (top, top + sum(row, |x| exp(x - top)).ln())
}
dispatch!(
    /// Largest value, and the logarithm of the sum of exponentials.
    log_sum = log_sum_body(row: &[f32]) -> (f32, f32)
);

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0f32; 32];
    let (a, a_rest) = a.as_chunks::<32>();
    let (b, b_rest) = b.as_chunks::<32>();
    for (a, b) in a.iter().zip(b) {
        for ((lane, x), y) in lanes.iter_mut().zip(a).zip(b) {
            *lane += x * y;
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    let quarter = |i: usize| (lanes[i] + lanes[i + 8]) + (lanes[i + 16] + lanes[i + 24]);
    total(std::array::from_fn(quarter)) + rest
}

#[derive(Clone, Copy)]
pub(crate) struct KeyValue<'a> {
    /// One per position.
    pub(crate) rows: &'a [f32],
    /// Length of a row.
    pub(crate) stride: usize,
    pub(crate) key: usize,
    pub(crate) value: usize,
    /// Added to the score of each row.
    pub(crate) bias: &'a [f32],
}

#[inline(always)]
fn attend_body(query: &[f32], seen: KeyValue, scores: &mut [f32], out: &mut [f32]) {
    let n = query.len();
    let scale = 1.0 / (n as f32).sqrt();
    for (score, row) in scores.iter_mut().zip(seen.rows.chunks_exact(seen.stride)) {
        *score = dot(query, &row[seen.key..seen.key + n]) * scale;
    }
    softmax_body(scores, seen.bias);
    out.fill(0.0);
    for (score, row) in scores.iter().zip(seen.rows.chunks_exact(seen.stride)) {
        for (out, value) in out.iter_mut().zip(&row[seen.value..seen.value + n]) {
            *out += score * value;
        }
    }
}
dispatch!(
    /// One query of one head over the first `scores.len()` rows; `scores` is scratch.
    attend = attend_body(query: &[f32], seen: KeyValue, scores: &mut [f32], out: &mut [f32])
);

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random values between -4 and 4, in rows of all lengths.
    fn rows() -> impl Iterator<Item = Vec<f32>> {
        [1usize, 7, 8, 31, 64, 100, 384].into_iter().map(|n| {
            (0..n).map(|i| ((i * i * 37 + i * 11 + n) % 801) as f32 / 100.0 - 4.0).collect()
        })
    }

    fn bits(row: &[f32]) -> Vec<u32> {
        row.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn both_builds_give_the_same_bits() {
        for row in rows() {
            let bias: Vec<f32> = row.iter().rev().copied().collect();
            let (mut a, mut b) = (row.clone(), row.clone());
            softmax(&mut a, &bias);
            softmax_body(&mut b, &bias);
            assert_eq!(bits(&a), bits(&b));
            gelu(&mut a);
            gelu_body(&mut b);
            assert_eq!(bits(&a), bits(&b));
            layer_norm(&row, &bias, &row, &mut a);
            layer_norm_body(&row, &bias, &row, &mut b);
            assert_eq!(bits(&a), bits(&b));
            let ((a, b), (c, d)) = (log_sum(&row), log_sum_body(&row));
            assert_eq!(bits(&[a, b]), bits(&[c, d]));
        }
    }

    #[test]
    fn both_builds_attend_alike() {
        let rows: Vec<f32> = (0..13 * 20).map(|i| ((i * 71) % 23) as f32 / 10.0 - 1.0).collect();
        let bias = vec![0.5; 13];
        let seen = KeyValue { rows: &rows, stride: 20, key: 2, value: 12, bias: &bias };
        let query = [0.3, -1.0, 0.7, 0.2, 0.9, -0.4, 0.1, 0.6];
        let (mut scores, mut a, mut b) = ([0.0; 13], [0.0; 8], [0.0; 8]);
        attend(&query, seen, &mut scores, &mut a);
        attend_body(&query, seen, &mut scores, &mut b);
        assert_eq!(bits(&a), bits(&b));
        assert!((scores.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn values_are_those_of_the_textbook() {
        for i in -870..=880 {
            let x = i as f32 / 10.0;
            let exact = f64::from(x).exp();
            assert!(((f64::from(exp(x)) - exact) / exact).abs() < 1e-5, "e^{x}");
        }
        let mut gelued = [-1.0, 0.0, 1.0, 3.0];
        gelu(&mut gelued);
        for (a, b) in gelued.iter().zip([-0.158_655, 0.0, 0.841_345, 2.995_95]) {
            assert!((a - b).abs() < 1e-5);
        }
        let (top, all) = log_sum(&[0.0, 1.0, 2.0]);
        assert!(top == 2.0 && (all - 2.407_606).abs() < 1e-5);
    }

    #[test]
    fn numbers_that_are_none_do_no_harm() {
        let mut row = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, 0.0];
        softmax(&mut row, &[0.0; 5]);
        gelu(&mut row);
        log_sum(&row);
    }
}
