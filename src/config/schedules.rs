//! The table's time zone, and settings of schedules. Entry function: [`options`].

use jiff::tz::TimeZone;

use super::{keys, reading::Notes};
use crate::{campaign::ScheduleOptions, yaml::Fields};

/// Reads `timezone` and `schedules`.
pub fn options(file: &Fields<'_>, notes: &mut Notes) -> ScheduleOptions {
    let schedules = file.map("schedules", &keys::app::SCHEDULES);
    let catch_up = schedules.and_then(|it| it.flag("catch_up")).unwrap_or_default();
    let zone = match file.text("timezone") {
        None => TimeZone::system(),
        Some(name) => TimeZone::get(name).unwrap_or_else(|_| {
            let message = format!("unknown time zone {}", file.shown("timezone"));
            let way_out = "use a name such as Europe/Berlin, America/New_York or UTC";
            notes.problems.add(file.place("timezone"), message, way_out);
            TimeZone::UTC
        }),
    };
    ScheduleOptions { zone, catch_up }
}
