//! Settings of the service that makes pictures. Entry function: [`image()`].

use super::{
    keys, listed::service_of, prices::PaidBy, providers::Clients, reading::Notes, services::Home,
};
use crate::{
    logic::budget::BudgetOptions,
    provider::{ImageEntry, ImageService, PICTURE_FIRST_BYTE},
    yaml::Fields,
};

const PATH: &str = "providers.image";

/// Reads the service; adds its own price to `budget`. `None`: no pictures.
pub fn image(file: &Fields, budget: &mut BudgetOptions, notes: &mut Notes) -> Option<ImageEntry> {
    let all = file.map("providers", &keys::providers::PROVIDERS)?;
    let fields = all.map("image", &keys::providers::IMAGE)?;
    let service = service_of(&fields).and_then(ImageService::named).unwrap_or_default();
    let home = match service {
        ImageService::OpenAi => Home::OPENAI,
        ImageService::Gemini => Home { has_sockets: false, ..Home::GEMINI },
    };
    let is_elsewhere = |url: &str| url.trim_end_matches('/') != home.base_url;
    let is_elsewhere = fields.text("base_url").is_some_and(is_elsewhere);
    // Only the service's own address is known to have the default model.
    let model = if is_elsewhere { "" } else { service.model() };
    let home = Home { model, first_byte_timeout: PICTURE_FIRST_BYTE, ..home };
    let mut clients = Clients::new(&budget.prices, notes);
    clients.check_service(&fields, PATH);
    let options = clients.options(&fields, PATH, PaidBy::Pictures, home);
    let mut own = clients.own;
    budget.prices.append(&mut own);
    Some(ImageEntry { service, options })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{self, Config, Report},
        domain::Secret,
        tools::builtin::IDENTITIES,
    };

    fn load(image: &str, tool: &str) -> Result<Config, Report> {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("glyphoxa.yaml");
        let npc = format!("{{ name: Bart, tools: [{tool}], lines: [{{ say: hi }}] }}");
        std::fs::write(&file, format!("{image}\nnpcs: [{npc}]\n")).unwrap();
        config::load(Some(&file), &|_| None, IDENTITIES)
    }

    fn entry(image: &str) -> ImageEntry {
        let config = load(&format!("providers: {{ image: {image} }}"), "").unwrap();
        config.services.image.unwrap()
    }

    #[test]
    fn service_has_its_own_address_and_model() {
        let openai = entry("{ service: openai, api_key: k1, price: { picture: 0.25 } }");
        assert_eq!(openai.options.base_url, "https://api.openai.com/v1");
        assert_eq!(openai.options.model, "gpt-image-2.6-flare");
        assert_eq!(openai.options.api_key, Some(Secret("k1".to_owned())));
        let listed = openai.options.priced_as.as_deref();
        assert_eq!(listed, Some("providers.image.gpt-image-2.6-flare"));
        let gemini = entry("{ name: gemini, api_key: k2, free: true }");
        assert_eq!(gemini.service, ImageService::Gemini);
        assert_eq!(gemini.options.base_url, "https://generativelanguage.googleapis.com");
        assert_eq!(gemini.options.model, "gemini-nano-banana-2.1");
        let near = entry("{ base_url: 'http://127.0.0.1:1234/v1', model: sd-cpp-local }");
        assert_eq!((near.options.model.as_str(), near.options.priced_as), ("sd-cpp-local", None));
    }

    #[test]
    fn paid_service_needs_the_price_of_a_picture() {
        let problems = |image: &str| {
            load(&format!("providers: {{ image: {image} }}"), "").unwrap_err().to_string()
        };
        let unpriced = problems("{ service: openai, api_key: k }");
        assert!(unpriced.contains("no price for model 'gpt-image-2.6-flare'"), "{unpriced}");
        let tokens = problems("{ service: openai, api_key: k, price: { output: 30 } }");
        assert!(tokens.contains("add picture"), "{tokens}");
        assert!(problems("{ service: openai, free: true }").contains("missing key 'api_key'"));
        let elsewhere = problems("{ base_url: 'http://127.0.0.1:1234/v1' }");
        assert!(elsewhere.contains("missing key 'model' of 'providers.image'"), "{elsewhere}");
    }

    #[test]
    fn each_wrong_service_has_its_place_and_fix() {
        for (entry, part) in [
            ("{ service: dalle, model: m }", "dalle"),
            ("{ service: openai, model: m, base_url: x.example, free: true }", "x.example"),
            ("{ service: openai, name: gemini, model: m, api_key: k, free: true }", "'name'"),
            ("{ service: openai, model: new-painter, api_key: k }", "price"),
            ("{ service: openai, model: m, free: true }", "api_key"),
            (
                "{ service: openai, model: m, api_key: k, free: true, price: { picture: 1 } }",
                "free",
            ),
            ("{ service: openai, model: m, api_key: k, price: { minute: 1 } }", "price of model"),
        ] {
            let report = load(&format!("\nproviders: {{ image: {entry} }}"), "image-gen.*");
            let report = report.unwrap_err().to_string();
            let is_shown = |it: &str| {
                it.contains("glyphoxa.yaml:2:") && it.contains(part) && it.ends_with(')')
            };
            assert!(report.lines().any(is_shown), "{entry}: {report}");
        }
    }

    #[test]
    fn service_may_be_local_or_name_no_model() {
        for entry in [
            "{ service: openai, model: m, base_url: 'http://127.0.0.1:1234/v1' }",
            "{ service: openai, api_key: k, price: { picture: 0.25, input: 5, output: 30 } }",
            "{ service: gemini, api_key: k, price: { picture: 0.04 } }",
        ] {
            let config = load(&format!("providers: {{ image: {entry} }}"), "image-gen.*").unwrap();
            assert!(config.warnings.is_empty(), "{entry}: {:?}", config.warnings);
        }
    }

    #[test]
    fn tool_without_a_service_is_warned_about() {
        let warned = |image: &str, tool: &str| {
            let config = load(image, tool).unwrap();
            config
                .warnings
                .iter()
                .any(|it| it.message.contains("no effect without providers.image"))
        };
        for tool in ["image-gen.generate_image", "generate_image", "image-gen.*"] {
            assert!(warned("", tool), "{tool}");
            assert!(!warned(
                "providers: { image: { base_url: 'http://127.0.0.1:1/v1', model: m } }",
                tool
            ));
        }
        assert!(!warned("", "dice-roller.roll"));
        let warnings = load("", "image-gen.*").unwrap().warnings;
        let is_placed =
            |it: &str| it.contains("glyphoxa.yaml:2:") && it.contains("providers.image");
        assert!(warnings.iter().any(|it| is_placed(&it.to_string())), "{warnings:?}");
    }
}
