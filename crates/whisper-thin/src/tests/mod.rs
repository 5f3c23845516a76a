//! Tests of the whole model: against numbers computed elsewhere, against hostile files, and with real weights.

mod fuzz;
mod hostile;
mod real;
mod reference;
mod running;
mod tiny;
