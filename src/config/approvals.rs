//! `tools.approvals`: calls that the game master decides.

use std::time::Duration;

use super::{keys, reading::Notes};
use crate::{
    campaign::{ApprovalOptions, NotifyOptions},
    provider::base_url,
    yaml::Fields,
};

/// Reads the settings under `tools`.
pub fn approvals(tools: Option<&Fields>, notes: &mut Notes) -> ApprovalOptions {
    let mut options = ApprovalOptions::default();
    let fields = tools.and_then(|tools| tools.map("approvals", &keys::app::APPROVALS));
    let Some(fields) = fields else { return options };
    if let Some(seconds) = fields.whole("expire_seconds") {
        options.expires = Duration::from_secs(seconds);
    }
    let notify = fields.map("notify", &keys::app::NOTIFY);
    options.notify = notify.and_then(|notify| self::notify(&notify, notes));
    options
}

fn notify(fields: &Fields, notes: &mut Notes) -> Option<NotifyOptions> {
    let url = fields.text("url")?.trim();
    let secret = fields.text("secret")?.to_owned();
    let (path, _) = url.split_once('?').unwrap_or((url, ""));
    match base_url(path) {
        Ok(address) => {
            if !address.private && !address.encrypted {
                let message = "notifications are sent unencrypted to another network";
                notes.warnings.add(fields.place("url"), message, "use https://");
            }
            Some(NotifyOptions { url: url.to_owned(), secret })
        }
        Err(way_out) => {
            let message = format!("'url' is {}", fields.shown("url"));
            notes.problems.add(fields.place("url"), message, way_out);
            None
        }
    }
}
