//! The inner loops: matrix products, row functions, int8 products.
//!
//! Each of our own loops has one body in plain Rust that the compiler can vectorise. On x86-64 it
//! is compiled a second time for AVX2 and chosen at run time, so that no target CPU has to be set.
//! Sums are taken in a fixed order and nothing is fused: both builds give the same bits.

#![expect(
    unsafe_code,
    reason = "functions for AVX2 are called once the processor was asked; the matrix product takes pointers"
)]

/// Defines `$name`, which runs `$body` compiled for this processor.
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

/// Adding and subtracting 1.5 * 2^23 rounds an f32 below 2^22 to the nearest integer (ties to
/// even), which is then in the low bits of the sum.
const ROUND: f32 = 12_582_912.0;
