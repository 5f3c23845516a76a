//! `providers.search` and `search`: web search, and pages that are readable without it.

use super::{
    keys,
    listed::service_of,
    prices::{PaidBy, check_price},
    providers::{Clients, Reach, own_price},
    reading::Notes,
    services::Home,
    whitelist,
};
use crate::{
    domain::Secret,
    logic::budget::BudgetOptions,
    provider::{AllowedHost, BaseUrl, Safe, SearchOptions, SearchService},
    yaml::{Fields, Node, Scalar, quoted},
};

const PATH: &str = "providers.search";

/// The search service, with the hosts of `search.allow`, for results in `language`. Adds its own
/// price to `budget`. `None`: no service, or a problem.
pub fn search(
    file: &Fields,
    language: &str,
    budget: &mut BudgetOptions,
    notes: &mut Notes,
) -> Option<SearchOptions> {
    let allow = allowed(file, notes);
    let described = described(file);
    if !allow.is_empty() && !whitelist::is_described(file, "search") {
        let message = "'search.allow' has no effect without providers.search";
        let way_out = "add providers: { search: { service: searxng, base_url: … } }";
        notes.warnings.add(file.place("search"), message, way_out);
    }
    let fields = described?;
    Clients::new(&budget.prices, notes).check_service(&fields, PATH);
    let service = service(&fields, notes)?;
    let reach = Reach { fields: &fields, path: PATH, home: home(service) };
    let address = address(reach, budget, notes);
    let api_key = api_key(reach, service, address.as_ref(), budget, notes);
    let safe = safe(&fields, service, notes);
    let is_private = address.as_ref().is_none_or(|address| address.private);
    // SearXNG is free, even at a public address.
    let is_own = is_private || service == SearchService::Searxng;
    let priced_as = priced_as(&fields, (service, is_own), budget, notes);
    let base_url = address?.text;
    let language = language.to_owned();
    Some(SearchOptions { service, base_url, api_key, safe, language, priced_as, allow })
}

fn described<'a>(file: &Fields<'a>) -> Option<Fields<'a>> {
    let all = file.map("providers", &keys::providers::PROVIDERS)?;
    all.map("search", &keys::providers::SEARCH)
}

fn allowed(file: &Fields, notes: &mut Notes) -> Vec<AllowedHost> {
    let Some(fields) = file.map("search", &keys::app::SEARCH) else { return Vec::new() };
    let mut read = |node: &Node| match AllowedHost::read(node.text()?) {
        Ok(host) => Some(host),
        Err(way_out) => {
            let shown = node.scalar().map(Scalar::shown).unwrap_or_default();
            let message = format!("'search.allow' has {shown}, which is not a host");
            notes.problems.add(node.at, message, way_out);
            None
        }
    };
    fields.items("allow").iter().filter_map(&mut read).collect()
}

fn service(fields: &Fields, notes: &mut Notes) -> Option<SearchService> {
    let named = service_of(fields);
    if named.is_none() && !fields.is_broken("service") && !fields.is_broken("name") {
        let message = format!("missing key 'service' of '{PATH}'");
        notes.problems.add(fields.at(), message, "add service: searxng, brave or tavily");
    }
    SearchService::named(named?)
}

/// Default address, and the usual variable of the key.
fn home(service: SearchService) -> Home {
    let variable = match service {
        SearchService::Searxng => "",
        SearchService::Brave => "BRAVE_API_KEY",
        SearchService::Tavily => "TAVILY_API_KEY",
    };
    Home { base_url: service.base_url().unwrap_or_default(), variable, ..Home::OPENAI }
}

/// `None`: wrong or missing.
fn address(reach: Reach, budget: &BudgetOptions, notes: &mut Notes) -> Option<BaseUrl> {
    let Reach { fields, home, .. } = reach;
    let is_missing = fields.get("base_url").is_none() && !fields.is_broken("base_url");
    if is_missing && home.base_url.is_empty() {
        let message = format!("missing key 'base_url' of '{PATH}'");
        let way_out = "add the address of your instance, such as http://127.0.0.1:8888";
        notes.problems.add(fields.at(), message, way_out);
        return None;
    }
    Clients::new(&budget.prices, notes).address(reach)
}

/// The key; required where needed, and never sent unencrypted.
fn api_key(
    reach: Reach,
    service: SearchService,
    address: Option<&BaseUrl>,
    budget: &BudgetOptions,
    notes: &mut Notes,
) -> Option<Secret> {
    let fields = reach.fields;
    if service == SearchService::Searxng {
        if fields.get("api_key").is_some() {
            let message = format!("'{PATH}.api_key' has no effect on 'searxng'");
            notes.problems.add(fields.place("api_key"), message, "remove it");
        }
        return None;
    }
    let key = fields.text("api_key").map(str::trim).filter(|key| !key.is_empty());
    Clients::new(&budget.prices, notes).check_key(reach, address?, key.is_some());
    key.map(|key| Secret(key.to_owned()))
}

/// The filter, if the service has one.
fn safe(fields: &Fields, service: SearchService, notes: &mut Notes) -> Safe {
    let safe = fields.text("safe").and_then(Safe::named);
    let is_silent = safe == Some(Safe::Off) || fields.is_broken("safe");
    if service == SearchService::Tavily && !is_silent {
        let at = fields.place(if safe.is_some() { "safe" } else { "service" });
        let message = format!("'{PATH}' is 'tavily', which cannot filter adult content");
        let way_out = "write safe: off to accept that, or use searxng or brave";
        notes.warnings.add(at, message, way_out);
    }
    safe.unwrap_or_default()
}

/// The service's name in the price list, if requests cost money.
fn priced_as(
    fields: &Fields,
    (service, is_own): (SearchService, bool),
    budget: &mut BudgetOptions,
    notes: &mut Notes,
) -> Option<String> {
    let name = service.name();
    let own = own_price(fields);
    let at = fields.place(if own.is_some() { "price" } else { "service" });
    match (own.or_else(|| budget.prices.get(name).copied()), fields.flag("free")) {
        (Some(_), Some(true)) => {
            let message = format!("service {} has a price and free: true", quoted(name));
            notes.problems.add(at, message, "remove `free: true` or the price");
        }
        (Some(price), _) => {
            check_price(price, name, PaidBy::Requests, at, &mut notes.problems);
            let listed = if own.is_some() { PATH.to_owned() } else { name.to_owned() };
            if own.is_some() {
                budget.prices.insert(listed.clone(), price);
            }
            return Some(listed);
        }
        (None, Some(true)) => {}
        (None, None) if is_own => {}
        (None, _) => {
            let message = format!("no price for '{PATH}'");
            notes.problems.add(at, message, "add price: { request: … }, or free: true");
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config, logic::budget::Price, tools::builtin::IDENTITIES};

    /// Result of loading a file with these lines before its NPC.
    fn loaded(text: &str) -> Result<config::Config, String> {
        loaded_with(text, "web-search.*", None)
    }

    /// Like [`loaded`], with an NPC that has this tool, and this value of `SEARCH_KEY`.
    fn loaded_with(text: &str, tool: &str, key: Option<&str>) -> Result<config::Config, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.yaml");
        let npc = format!("npcs: [{{ name: Bart, tools: [{tool}], lines: [{{ say: hi }}] }}]\n");
        std::fs::write(&path, format!("{text}{npc}")).unwrap();
        let environment = |name: &str| key.filter(|_| name == "SEARCH_KEY").map(str::to_owned);
        config::load(Some(&path), &environment, IDENTITIES).map_err(|report| report.to_string())
    }

    /// The only problem of a file, with this line and a fix.
    #[track_caller]
    fn only_problem(text: &str, line: usize) -> String {
        let report = loaded(text).unwrap_err();
        let is_one = report.lines().count() == 1 && report.contains(&format!("x.yaml:{line}:"));
        assert!(is_one && report.ends_with(')'), "{text}: {report}");
        report
    }

    fn options(text: &str) -> SearchOptions {
        loaded(text).unwrap().services.search.unwrap()
    }

    #[test]
    fn service_is_read_with_its_hosts() {
        let read = options(
            "language: de\nproviders: { search: { service: searxng, base_url: 'http://127.0.0.1:8888/' } }\n\
             search: { allow: [srd.example.org, '*.example.com'] }\n",
        );
        assert_eq!((read.base_url.as_str(), read.safe), ("http://127.0.0.1:8888", Safe::Strict));
        assert_eq!((read.service, read.allow.len()), (SearchService::Searxng, 2));
        assert_eq!(read.language, "de");
        assert_eq!(read.priced_as, None, "it is on this machine");
    }

    #[test]
    fn vendor_needs_its_key_and_its_price() {
        let brave = "providers: { search: { name: brave, api_key: key-of-mine, safe: moderate, \
                     price: { request: 0.005 } } }\n";
        let config = loaded(brave).unwrap();
        let read = config.services.search.unwrap();
        assert_eq!(read.base_url, "https://api.search.brave.com");
        assert_eq!((read.safe, read.priced_as.as_deref()), (Safe::Moderate, Some(PATH)));
        let price = Price { request: 0.005, ..Price::default() };
        assert_eq!(config.budget.prices[PATH].request, price.request);
        let listed = "prices: { tavily: { request: 0.008 } }\n\
                      providers: { search: { service: tavily, api_key: key-of-mine } }\n";
        assert_eq!(options(listed).priced_as.as_deref(), Some("tavily"));
        let free = "providers: { search: { service: tavily, api_key: key-of-mine, free: true } }\n";
        assert_eq!(options(free).priced_as, None);
    }

    #[test]
    fn wrong_settings_name_line_and_fix() {
        let wrong =
            |search: &str| loaded(&format!("providers:\n  search: {search}\n")).unwrap_err();
        for (search, wanted) in [
            (
                "{ base_url: 'http://a.lan' }",
                "x.yaml:2:11: missing key 'service' of 'providers.search'",
            ),
            ("{ service: searxng }", "x.yaml:2:11: missing key 'base_url' of 'providers.search'"),
            ("{ service: searxng, base_url: a.lan }", "'providers.search.base_url' is 'a.lan'"),
            (
                "{ service: searxng, base_url: 'http://a.lan', api_key: key-of-mine }",
                "has no effect on 'searxng'",
            ),
            ("{ service: brave, free: true }", "missing key 'api_key' of 'providers.search'"),
            ("{ service: brave, api_key: key-of-mine }", "no price for 'providers.search'"),
            (
                "{ service: brave, api_key: key-of-mine, price: { input: 1 } }",
                "does not fit its use",
            ),
            (
                "{ service: brave, api_key: key-of-mine, free: true, price: { request: 1 } }",
                "has a price and free",
            ),
            ("{ service: bing }", "x.yaml:2:22:"),
        ] {
            let report = wrong(search);
            assert!(report.contains(wanted), "{search}: {report}");
            assert!(!report.contains("key-of-mine"), "{report}");
        }
    }

    #[test]
    fn each_wrong_service_is_one_problem_with_a_fix() {
        let cases: [(&str, &[&str]); 8] = [
            ("service: bing, api_key: k", &["'bing'", "searxng", "brave", "tavily"]),
            ("service: serxng, base_url: \"http://127.0.0.1:1\"", &["searxng"]),
            ("service: searxng", &["base_url"]),
            ("service: brave, price: { request: 0.005 }", &["api_key"]),
            ("service: tavily, safe: off, price: { request: 0.008 }", &["api_key"]),
            ("service: searxng, base_url: \"nowhere\"", &["base_url"]),
            ("service: brave, api_key: k, free: true, safe: very", &["safe", "strict"]),
            ("service: brave, api_key: k, free: true, price: { request: 0.005 }", &["free"]),
        ];
        for (entry, parts) in cases {
            let problem = only_problem(&format!("providers:\n  search: {{ {entry} }}\n"), 2);
            assert!(parts.iter().all(|part| problem.contains(part)), "{entry}: {problem}");
        }
    }

    #[test]
    fn each_wrong_host_is_one_problem_with_a_fix() {
        let service =
            "providers:\n  search: { service: searxng, base_url: \"http://127.0.0.1:1\" }\n";
        let hosts = ["https://a.example.org", "a.example.org/page", "*", "*.lan", "a b", "u@a.org"];
        for host in hosts.into_iter().chain([""]) {
            let allow = format!("search:\n  allow:\n    - srd.example.org\n    - \"{host}\"\n");
            only_problem(&format!("{service}{allow}"), 6);
        }
        let good = "search: { allow: [srd.example.org, \"*.example.com\", \"127.0.0.1:8080\"] }\n";
        assert!(loaded(&format!("{service}{good}")).is_ok());
    }

    #[test]
    fn key_comes_from_the_environment() {
        let text =
            "providers: { search: { service: brave, api_key: \"${SEARCH_KEY}\", free: true } }\n";
        let missing = loaded(text).unwrap_err();
        assert!(missing.contains("SEARCH_KEY"), "{missing}");
        let read = loaded_with(text, "web-search.*", Some("raven")).unwrap();
        assert_eq!(read.services.search.unwrap().api_key, Some(Secret("raven".to_owned())));
    }

    #[test]
    fn unknown_tool_of_the_web_is_a_problem() {
        let service =
            "providers: { search: { service: searxng, base_url: 'http://127.0.0.1:8888' } }\n";
        let unknown = loaded_with(service, "web-search.look", None).unwrap_err();
        assert!(unknown.contains("web-search.look"), "{unknown}");
        assert!(loaded_with(service, "web-search.search", None).unwrap().warnings.is_empty());
    }

    #[test]
    fn entry_that_is_no_host_is_a_problem() {
        let report = loaded("search:\n  allow: ['https://a.example.org/b']\n").unwrap_err();
        let wanted =
            "x.yaml:2:11: 'search.allow' has 'https://a.example.org/b', which is not a host";
        assert!(report.contains(wanted), "{report}");
    }

    #[test]
    fn tools_without_a_service_are_warned_about() {
        let config = loaded("search: { allow: a.example.org }\n").unwrap();
        let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
        let wanted = ["'web-search.*' has no effect", "'search.allow' has no effect"];
        for wanted in wanted {
            assert!(warnings.iter().any(|it| it.contains(wanted)), "{wanted}: {warnings:?}");
        }
        assert!(!config.assistant.tools.iter().any(|it| it == "web-search.*"));
        let config = loaded_with("", "web-search.search", None).unwrap();
        let is_placed = |it: &String| it.contains("x.yaml:1:") && it.contains("providers.search");
        let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
        assert!(warnings.iter().any(is_placed), "{warnings:?}");
    }

    #[test]
    fn assistant_searches_where_a_service_is() {
        let text =
            "providers: { search: { service: searxng, base_url: 'http://127.0.0.1:8888' } }\n";
        let config = loaded(text).unwrap();
        assert!(config.assistant.tools.iter().any(|it| it == "web-search.*"));
        assert!(config.warnings.is_empty(), "{:?}", config.warnings);
    }

    #[test]
    fn tavily_filters_nothing() {
        for (safe, is_warned) in [("", true), (", safe: strict", true), (", safe: off", false)] {
            let service = "service: tavily, api_key: key-of-mine, free: true";
            let text = format!("providers: {{ search: {{ {service}{safe} }} }}\n");
            let warnings = loaded(&text).unwrap().warnings;
            let warned =
                warnings.iter().any(|it| it.message.contains("cannot filter adult content"));
            assert_eq!(warned, is_warned, "{safe}: {warnings:?}");
        }
    }

    #[test]
    fn searxng_is_free_wherever_it_is() {
        let entry = |more: &str| {
            let service = format!("service: searxng, base_url: 'https://s.example.org'{more}");
            options(&format!("providers: {{ search: {{ {service} }} }}\n")).priced_as
        };
        assert_eq!(entry(""), None);
        assert_eq!(entry(", price: { request: 0.001 }").as_deref(), Some(PATH));
    }
}
