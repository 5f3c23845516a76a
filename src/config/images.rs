//! How the service is reached that makes pictures.
//!
//! Entry functions: [`image`], [`warn_without`]. **Never**: decides which NPCs show pictures; their tools do.

use super::{
    keys,
    prices::PaidBy,
    providers::{Clients, Home},
    reading::Notes,
};
use crate::{
    logic::budget::BudgetOptions,
    provider::{ImageEntry, ImageService, PICTURE_FIRST_BYTE},
    yaml::{Fields, Problems},
};

/// The keys that lead there.
const PATH: &str = "providers.image";

/// Begins the identities of what shows pictures.
const SERVER: &str = "image-gen.";

/// The service of a checked file; a price beside it joins those of `budget`. `None`: no pictures.
pub fn image(file: &Fields, budget: &mut BudgetOptions, notes: &mut Notes) -> Option<ImageEntry> {
    let all = file.map("providers", &keys::providers::PROVIDERS)?;
    let fields = all.map("image", &keys::providers::IMAGE)?;
    let named = fields.text("service").or_else(|| fields.text("name"));
    let service = named.and_then(ImageService::named).unwrap_or_default();
    let home = match service {
        ImageService::OpenAi => Home { model: service.model(), ..Home::OPENAI },
        ImageService::Gemini => Home { model: service.model(), has_sockets: false, ..Home::GEMINI },
    };
    let mut clients = Clients::new(&budget.prices, notes);
    clients.check_service(&fields, PATH);
    let mut options = clients.options(&fields, PATH, PaidBy::Pictures, home);
    options.first_byte_timeout = PICTURE_FIRST_BYTE;
    let mut own = clients.own;
    budget.prices.append(&mut own);
    Some(ImageEntry { service, options })
}

/// Whether `file` names a service for pictures, well or not.
pub fn is_named(file: &Fields) -> bool {
    let all = file.map("providers", &keys::providers::PROVIDERS);
    file.is_broken("providers") || all.is_some_and(|all| all.get("image").is_some())
}

/// Warns of an NPC whose `tools` list pictures although no service makes any.
pub fn warn_without(npc: &Fields, warnings: &mut Problems) {
    let shows = |entry: &str| entry.starts_with(SERVER) || entry == "generate_image";
    let mut tools = npc.items("tools").iter();
    if let Some(node) = tools.find(|node| node.text().is_some_and(shows)) {
        let message = "no service makes pictures, so this tool is never offered";
        let way_out = "set providers.image (docs/pictures.md), or remove the tool";
        warnings.add(node.at, message, way_out);
    }
}
