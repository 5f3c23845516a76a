//! Text of fed figures, and bounds of it.

use std::collections::BTreeSet;

use super::*;

const TURN: TurnLabels = TurnLabels { outcome: "spoken", tier: "fast", engine: "cascaded" };

/// True if a line of `text` is `line`.
fn has(text: &str, line: &str) -> bool {
    text.lines().any(|it| it == line)
}

#[test]
fn names_have_prefix_unit_and_one_help_line() {
    let counters = names::COUNTERS.into_iter().chain([&names::SPEND]);
    assert!(counters.clone().all(|it| it.name.ends_with("_total")));
    let times = names::TIMES.map(|it| &it.figure);
    assert!(times.iter().all(|it| it.name.ends_with("_seconds")));
    let gauges = names::WRITTEN.into_iter().filter(|it| it.name != names::SPEND.name);
    let gauges: Vec<&Figure> = gauges.collect();
    assert!(gauges.iter().all(|it| !it.name.ends_with("_total")));
    let all: Vec<&Figure> = counters.chain(times).chain(gauges).collect();
    assert_eq!(all.iter().map(|it| it.name).collect::<BTreeSet<_>>().len(), all.len());
    for Figure { name, help } in all {
        let is_plain = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(is_plain && name.starts_with("glyphoxa_"), "{name}");
        assert!(!help.is_empty() && !help.contains(['\n', '\\']), "{name}");
    }
    for times in names::TIMES {
        assert!(times.buckets.is_sorted() && !times.buckets.is_empty(), "{}", times.figure.name);
    }
}

#[test]
fn fed_figures_are_rendered() {
    let figures = Figures::default();
    figures.turn(TURN);
    figures.turn(TURN);
    figures.first_audio(TURN, Duration::from_millis(700));
    figures.spent("gpt", "tokens", 1_250_000_000);
    figures.spent("gpt", "tokens", 1);
    figures.set_sample(Sample {
        tables: 2,
        servers: vec![("a b".to_owned(), true), ("a_b".to_owned(), false)],
        breakers: vec![
            ("model", vec![("openai".to_owned(), false)]),
            ("voice", vec![("openai".to_owned(), true)]),
        ],
        ..Sample::default()
    });
    let text = figures.render();
    let first = "glyphoxa_turn_first_audio_seconds";
    for line in [
        "# TYPE glyphoxa_turns_total counter",
        "glyphoxa_turns_total{outcome=\"spoken\",tier=\"fast\",engine=\"cascaded\"} 2",
        &format!("# TYPE {first} histogram"),
        &format!("{first}_bucket{{tier=\"fast\",engine=\"cascaded\",le=\"0.6\"}} 0"),
        &format!("{first}_bucket{{tier=\"fast\",engine=\"cascaded\",le=\"0.8\"}} 1"),
        &format!("{first}_count{{tier=\"fast\",engine=\"cascaded\"}} 1"),
        "# TYPE glyphoxa_spend_usd_total counter",
        "glyphoxa_spend_usd_total{service=\"gpt\",kind=\"tokens\"} 1.250000001",
        "glyphoxa_tables_active 2",
        "glyphoxa_mcp_server_up{server=\"a_b\"} 0",
        "glyphoxa_breaker_open{kind=\"model\",service=\"openai\"} 0",
        "glyphoxa_breaker_open{kind=\"voice\",service=\"openai\"} 1",
        "glyphoxa_events_missed_total 0",
    ] {
        assert!(has(&text, line), "{line}:\n{text}");
    }
    assert!(!text.contains("glyphoxa_gateway_up"), "it has no bot:\n{text}");
    assert!(!Figures::default().render().contains("spoken"), "another program");
}

#[test]
fn listeners_of_an_ended_table_are_gone() {
    let figures = Figures::default();
    let (mut first, mut second) = (figures.listeners(), figures.listeners());
    first.set(3);
    second.set(2);
    first.set(1);
    assert!(has(&figures.render(), "glyphoxa_listeners 3"));
    drop(first);
    assert!(has(&figures.render(), "glyphoxa_listeners 2"));
}

#[test]
fn figures_of_leases_are_rendered() {
    let (figures, now) = (Figures::default(), Instant::now());
    let text = figures.render();
    for name in ["glyphoxa_shards", "glyphoxa_lease_renewal", "glyphoxa_identify_wait"] {
        assert!(!text.contains(name), "it has no bot:\n{text}");
    }
    assert!(has(&text, "glyphoxa_leases_lost_total{reason=\"taken\"} 0"), "{text}");
    assert_eq!(figures.since_renewal(now), None);
    figures.set_shards(2, 8);
    figures.lease_renewed(now);
    figures.lease_lost(LeaseLoss::Expired);
    figures.identify_waited(Duration::ZERO);
    figures.identify_waited(Duration::from_secs(15));
    let since_renewal = figures.since_renewal(now + Duration::from_millis(1_500));
    figures.set_sample(Sample { since_renewal, ..Sample::default() });
    let text = figures.render();
    for line in [
        "glyphoxa_shards_held 2",
        "glyphoxa_shards 8",
        "glyphoxa_lease_renewal_age_seconds 1.5",
        "glyphoxa_leases_lost_total{reason=\"expired\"} 1",
        "glyphoxa_leases_lost_total{reason=\"taken\"} 0",
        "glyphoxa_identify_wait_seconds_bucket{le=\"0.1\"} 1",
        "glyphoxa_identify_wait_seconds_bucket{le=\"20\"} 2",
        "glyphoxa_identify_wait_seconds_sum 15",
    ] {
        assert!(has(&text, line), "{line}:\n{text}");
    }
}

#[test]
fn gone_servers_are_not_rendered() {
    let figures = Figures::default();
    let servers = vec![("lore".to_owned(), true)];
    figures.set_sample(Sample { servers, ..Sample::default() });
    assert!(has(&figures.render(), "glyphoxa_mcp_server_up{server=\"lore\"} 1"));
    figures.set_sample(Sample::default());
    assert!(!figures.render().contains("lore"));
}

/// The worst of 200 tables: every label has as many and as long values as it may.
#[test]
fn full_figures_stay_below_a_megabyte() {
    let figures = Figures::default();
    let name = |number: usize| format!("{number:03}{}", "x".repeat(100));
    for number in 0..300 {
        for tier in ["fast", "standard", "deep", "none"] {
            for outcome in ["ok", "failed", "pending"] {
                let took = Some(Duration::from_millis(300));
                let tool = name(number);
                figures.tool_call(ToolCallFigure { tool: &tool, tier, outcome, took });
            }
        }
        figures.spent(&name(number), "tokens", 1);
    }
    let states = || (0..300).map(|number| (name(number), true)).collect();
    let breakers = ["model", "recogniser", "voice"].map(|kind| (kind, states())).into();
    figures.set_sample(Sample { servers: states(), breakers, ..Sample::default() });
    let text = figures.render();
    assert!(text.len() < 1_000_000, "{} bytes", text.len());
    assert!(text.contains("tool=\"other\""));
}

#[test]
fn page_names_every_figure() {
    let page = include_str!("../../docs/figures.md");
    let times = names::TIMES.map(|it| &it.figure).into_iter();
    for Figure { name, .. } in times.chain(names::COUNTERS).chain(names::WRITTEN) {
        let is_named = |line: &str| line.split(['{', ' ']).next() == Some(*name);
        assert!(page.lines().any(is_named), "{name}");
    }
}
