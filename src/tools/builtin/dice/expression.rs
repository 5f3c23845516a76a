//! The argument of rolls and odds: dice, or the words spoken.
//!
//! Entry functions: [`expression`], [`invalid`].

use serde_json::{Map, Value};

use super::super::describe::text;
use crate::{
    logic::dice::{DiceError, check_length},
    tools::{CallError, CallErrorKind},
};

/// The expression among `arguments`, refused before it is read if it is too long: not every caller
/// checks the schema.
pub fn expression(arguments: &Map<String, Value>) -> Result<&str, CallError> {
    let said = text(arguments, "expression").unwrap_or_default();
    check_length(said).map_err(invalid)?;
    Ok(said)
}

pub fn invalid(error: DiceError) -> CallError {
    CallError::new(CallErrorKind::InvalidArguments, error.to_string())
}
