//! Settings of a tool in a file, for tools of any source. Entry function: [`declared`].

use std::time::Duration;

use crate::{
    tools::{Declared, SideEffects},
    yaml::{Fields, Node, Problems},
};

/// Reads `fields`, whose keys are those of `keys::declared`; `floor` is the key of the lowest tier.
/// Warns if the declared duration needs a higher tier.
pub fn declared(fields: &Fields, floor: &str, warnings: &mut Problems) -> Declared {
    let duration = |key, unit: f64| {
        fields.number(key).and_then(|number| Duration::try_from_secs_f64(number * unit).ok())
    };
    let fillers = fields.texts("fillers");
    let declared = Declared {
        estimated: duration("estimated_duration_ms", 1e-3),
        max: duration("max_duration_ms", 1e-3),
        measured: duration("measured_duration_ms", 1e-3),
        measured_p99: duration("measured_p99_ms", 1e-3),
        idempotent: fields.flag("idempotent"),
        read_only: fields.flag("read_only"),
        destructive: fields.flag("destructive"),
        open_world: fields.flag("open_world"),
        effects: fields.text("effects").and_then(SideEffects::named),
        cacheable: duration("cacheable_seconds", 1.0),
        categories: fields.texts("category").iter().map(|it| it.trim().to_owned()).collect(),
        floor: fields.text(floor).and_then(|tier| tier.parse().ok()),
        follow_up: fields.text("late").map(|late| late == "follow_up"),
        urgent: fields.flag("urgent"),
        records: fields.flag("records"),
        approval: fields.text("approval").map(|approval| approval == "dm"),
        fillers: (!fillers.is_empty()).then_some(fillers),
        description: None,
        parameters: None,
        probe: fields.get("probe").map(Node::to_json).and_then(|it| it.as_object().cloned()),
    };
    if let Some((takes, needed)) = declared.floor_without_effect() {
        let message = format!(
            "'{floor}' is {}, but a call of {} ms needs {needed}",
            fields.shown(floor),
            takes.as_millis()
        );
        let way_out = format!("write {floor}: {needed}, or correct the duration");
        warnings.add(fields.place(floor), message, way_out);
    }
    declared
}
