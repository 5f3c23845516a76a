//! Unknown names of sets, with suggestions.

use super::super::Failure;
use crate::{weights::Weights, yaml::nearest};

/// Failure for an unknown set, with the nearest name if one is close.
pub fn unknown(weights: &Weights, name: &str) -> Failure {
    let known = weights.sets().iter().map(|set| set.name.as_str());
    let way_out = nearest(name, known).map_or_else(
        || "see: glyphoxa models list".to_owned(),
        |near| format!("did you mean {near}? see: glyphoxa models list"),
    );
    Failure::usage(format!("unknown model files '{name}' ({way_out})"))
}
