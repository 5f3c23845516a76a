//! The inner loops: matrix products, row functions, int8 products.
//!
//! Each loop of our own has one body in plain Rust, written so that the compiler can vectorise it.
//! On x86-64 the same body is compiled a second time for AVX2 and chosen at run time, so that nobody
//! has to set a target CPU. Sums are taken in a fixed order and nothing is fused: both builds of a body
//! give the same bits.

#![expect(
    unsafe_code,
    reason = "functions for AVX2 are called once the processor was asked; the matrix product takes pointers"
)]

/// Defines `$name`, which runs `$body` as compiled for the processor at hand.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident = $body:ident ($($arg:ident : $ty:ty),*) $(-> $ret:ty)?) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $ty),*) $(-> $ret)? {
                    $body($($arg),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the feature was just detected.
                    return unsafe { wide($($arg),*) };
                }
            }
            $body($($arg),*)
        }
    };
}

mod int8;
mod product;
mod row;

pub(crate) use int8::{dot_rows, quantise};
pub(crate) use product::{Matrix, MatrixMut, multiply};
pub(crate) use row::{KeyValue, attend, gelu, layer_norm, log_sum, softmax};

/// Adding and subtracting this rounds an f32 below 2^22 to the nearest integer (ties to even), which
/// then stands in the low bits of the sum: 1.5 * 2^23.
const ROUND: f32 = 12_582_912.0;
