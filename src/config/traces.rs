//! Settings of traces. Entry function: [`options`].

use super::{keys, reading::Notes};
use crate::{domain::Secret, provider::base_url, yaml::Fields};

/// Path of traces below a collector's address, by the specification of OTLP.
const TRACES: &str = "/v1/traces";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetryOptions {
    /// Address that takes traces; it may contain a key.
    pub otlp: Secret,
    /// Words are sent too.
    pub content: bool,
}

/// Reads `telemetry`; `None`: nothing is traced.
pub fn options(file: &Fields<'_>, notes: &mut Notes) -> Option<TelemetryOptions> {
    let telemetry = file.map("telemetry", &keys::telemetry::TELEMETRY)?;
    let content = telemetry.flag("content").unwrap_or_default();
    match base_url(telemetry.text("otlp")?.trim()) {
        Ok(address) => {
            if content && !address.private && !address.encrypted {
                let message = "words are sent unencrypted to another network";
                notes.warnings.add(telemetry.place("otlp"), message, "use https://");
            }
            Some(TelemetryOptions { otlp: Secret(traces(&address.text)), content })
        }
        Err(way_out) => {
            let message = format!("'otlp' is {}", telemetry.shown("otlp"));
            notes.problems.add(telemetry.place("otlp"), message, way_out);
            None
        }
    }
}

/// The address of traces below `base`, which may name it already.
fn traces(base: &str) -> String {
    if base.ends_with(TRACES) { base.to_owned() } else { format!("{base}{TRACES}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_of_traces_is_added_once() {
        for base in ["http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"] {
            assert_eq!(traces(base), "http://127.0.0.1:4318/v1/traces");
        }
    }
}
