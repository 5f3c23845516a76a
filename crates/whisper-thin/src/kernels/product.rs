//! The f32 matrix product, with the bounds checks that `matrixmultiply` leaves to its caller.

/// A matrix in a slice; element (r, c) is at `r * row_stride + c * column_stride`. Rows may overlap
/// (a row stride smaller than a row), which turns convolutions into products.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Rows of `columns` values, `stride` apart. Panics if the slice is too short.
    pub(crate) fn new(data: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(reaches(rows, columns, stride) <= data.len(), "matrix outside its slice");
        Self { data, rows, columns, row_stride: stride, column_stride: 1 }
    }

    pub(crate) fn transposed(self) -> Self {
        Self {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }
}

/// A matrix to write to; its rows do not overlap.
pub(crate) struct MatrixMut<'a> {
    data: &'a mut [f32],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a> MatrixMut<'a> {
    /// Rows of `columns` values, `stride` apart. Panics if the slice is too short or rows would
    /// overlap.
    pub(crate) fn new(data: &'a mut [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert!(columns <= stride, "rows to be written overlap");
        assert!(reaches(rows, columns, stride) <= data.len(), "matrix outside its slice");
        Self { data, rows, columns, stride }
    }
}

/// Length of a slice that holds such rows; `usize::MAX` if it overflows.
fn reaches(rows: usize, columns: usize, stride: usize) -> usize {
    if rows == 0 || columns == 0 {
        return 0;
    }
    (rows - 1).checked_mul(stride).and_then(|n| n.checked_add(columns)).unwrap_or(usize::MAX)
}

/// `target = scale * a * b`, or `target += scale * a * b` when `add`, on the calling thread. Panics
/// if the shapes do not fit.
pub(crate) fn multiply(a: Matrix, b: Matrix, scale: f32, add: bool, target: MatrixMut) {
    assert!(a.columns == b.rows, "inner sizes differ");
    assert!(a.rows == target.rows && b.columns == target.columns, "target of another shape");
    // SAFETY: `new` has checked that all elements lie inside the slices, `transposed` keeps the same
    // elements, and `target` is borrowed for this call alone. Strides are below the length of a slice.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b.columns,
            scale,
            a.data.as_ptr(),
            a.row_stride.cast_signed(),
            a.column_stride.cast_signed(),
            b.data.as_ptr(),
            b.row_stride.cast_signed(),
            b.column_stride.cast_signed(),
            f32::from(u8::from(add)),
            target.data.as_mut_ptr(),
            target.stride.cast_signed(),
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transposed_and_overlapping_views_multiply() {
        // rows (1 2), (2 3), (3 4) out of four values
        let a = [1.0, 2.0, 3.0, 4.0];
        let b = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        let mut c = [1.0; 9];
        let a = Matrix::new(&a, 3, 2, 1);
        let b = Matrix::new(&b, 3, 2, 2).transposed();
        multiply(a, b, 2.0, true, MatrixMut::new(&mut c, 3, 3, 3));
        let expected = [43.0, 85.0, 127.0, 65.0, 129.0, 193.0, 87.0, 173.0, 259.0];
        assert_eq!(c, expected);
    }

    #[test]
    fn views_outside_their_slice_are_refused() {
        let outside = |rows, columns, stride| {
            std::panic::catch_unwind(|| Matrix::new(&[0.0; 10], rows, columns, stride).rows)
                .is_err()
        };
        assert!(!outside(2, 5, 5) && !outside(0, 50, 50) && !outside(6, 5, 1));
        assert!(outside(2, 5, 6) && outside(7, 5, 1) && outside(3, 2, usize::MAX));
    }
}
