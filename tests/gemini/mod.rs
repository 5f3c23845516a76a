//! The counterpart of Gemini Live. What the program does with it is in `tests/realtime/`, on both services.

pub mod sdk;

/// The key that the counterpart wants.
const KEY: &str = "gemini-key-of-tests";
