//! Tests of the whole model: against reference numbers, hostile files and real weights.

mod fuzz;
mod hostile;
mod real;
mod reference;
mod running;
mod tiny;
