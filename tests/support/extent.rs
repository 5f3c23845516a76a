//! How much of a test's cases to try.
//!
//! Entry functions: [`whole`], [`times`]. **Never**: decides for a test what it leaves out.

use std::env;

/// True in `./dev proof`, which tries every case of what is tried a few times otherwise.
pub fn whole() -> bool {
    env::var_os("GLYPHOXA_TEST_WHOLE").is_some()
}

/// Factor on the usual number of random cases.
#[expect(clippy::disallowed_methods, reason = "the long form is asked for by a variable")]
pub fn times() -> u32 {
    let times = env::var("GLYPHOXA_TEST_FUZZ");
    times.map_or(1, |it| it.parse().expect("GLYPHOXA_TEST_FUZZ is a number"))
}
