//! Files that watch the bot: dashboard, alerts, and the containers for both.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::{
    program::{repository, shipped},
    prometheus::promtool,
};

/// Queries of the shipped dashboard, as Grafana sends them for a window of a minute.
pub fn queries() -> Vec<String> {
    let (dashboard, mut queries) = (dashboard(), Vec::new());
    for panel in panels(&dashboard) {
        for target in panel["targets"].as_array().into_iter().flatten() {
            let query = target["expr"].as_str().expect("a query");
            queries.push(query.replace("$window", "1m").replace("$__range", "1m"));
        }
    }
    queries
}

fn dashboard() -> Value {
    serde_json::from_str(&shipped("deploy/grafana/dashboard.json")).expect("JSON")
}

fn panels(dashboard: &Value) -> &[Value] {
    dashboard["panels"].as_array().expect("panels")
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&shipped(name)).expect("YAML")
}

/// Words of `text` that name figures of the program.
fn figures(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with("glyphoxa_")).collect()
}

/// Figures that the program has, from the file with all their names.
fn known(names: &str) -> BTreeSet<&str> {
    let quoted = names.split('"').skip(1).step_by(2);
    quoted.filter(|name| name.starts_with("glyphoxa_")).collect()
}

#[test]
fn dashboard_and_alerts_ask_for_known_figures() {
    let (names, alerts) =
        (shipped("src/figures/names.rs"), shipped("deploy/prometheus/alerts.yml"));
    let (known, queries) = (known(&names), queries().join("\n"));
    for asked in figures(&queries).into_iter().chain(figures(&alerts)) {
        let parts = ["_bucket", "_count", "_sum"];
        let whole = parts.iter().find_map(|part| asked.strip_suffix(part)).unwrap_or(asked);
        assert!(known.contains(whole), "{asked} is no figure of {known:?}");
    }
    for name in known {
        assert!(figures(&queries).iter().any(|it| it.starts_with(name)), "{name} is not shown");
    }
}

/// The place of a panel, in Grafana's grid of 24 columns.
#[derive(Debug)]
struct Area {
    x: u64,
    y: u64,
    w: u64,
    h: u64,
}

impl Area {
    fn of(panel: &Value) -> Self {
        let at = |key: &str| panel["gridPos"][key].as_u64().expect("a number");
        Self { x: at("x"), y: at("y"), w: at("w"), h: at("h") }
    }

    const fn overlaps(&self, other: &Self) -> bool {
        self.x < other.x + other.w
            && other.x < self.x + self.w
            && self.y < other.y + other.h
            && other.y < self.y + self.h
    }
}

#[test]
fn panels_of_the_dashboard_lie_side_by_side() {
    let dashboard = dashboard();
    let panels = panels(&dashboard);
    let ids: BTreeSet<u64> = panels.iter().filter_map(|it| it["id"].as_u64()).collect();
    assert_eq!(ids.len(), panels.len(), "each has an id of its own");
    for (index, panel) in panels.iter().enumerate() {
        let (area, title) = (Area::of(panel), panel["title"].as_str().expect("a title"));
        assert!(area.x + area.w <= 24, "{title}");
        for other in panels.get(index + 1..).unwrap_or_default() {
            assert!(!area.overlaps(&Area::of(other)), "{title}: {}", other["title"]);
        }
        let source = panel.get("datasource").filter(|_| panel["type"] != "row");
        assert!(source.is_none_or(|it| it["uid"] == "${datasource}"), "{title}");
    }
}

#[test]
fn rules_and_configuration_pass_promtool() {
    for check in [["check", "rules", "alerts.yml"], ["check", "config", "prometheus.yml"]] {
        let file = format!("deploy/prometheus/{}", check[2]);
        let Some(checked) = promtool(&[check[0], check[1], &file], "") else { return };
        checked.ends_with(0);
    }
}

/// Series and the alerts that they raise, in `tests/data/alerts.yml`.
#[test]
fn alerts_are_raised_by_what_they_name() {
    let Some(tested) = promtool(&["test", "rules", "tests/data/alerts.yml"], "") else { return };
    tested.ends_with(0);
    let tests = shipped("tests/data/alerts.yml");
    for rule in yaml("deploy/prometheus/alerts.yml")["groups"][0]["rules"].as_array().unwrap() {
        let alert = rule["alert"].as_str().expect("a name");
        assert!(tests.contains(&format!("alertname: {alert}\n")), "{alert} is not tried");
        assert!(
            rule["labels"]["severity"].is_string() && rule["annotations"]["summary"].is_string()
        );
    }
}

#[test]
fn compose_figures_reach_only_this_machine() {
    let compose = yaml("compose.yaml");
    let services = compose["services"].as_object().expect("services");
    for (name, service) in services.iter().filter(|(name, _)| *name != "glyphoxa") {
        assert_eq!(service["profiles"], serde_json::json!(["figures"]), "{name}: only on demand");
        let image = service["image"].as_str().expect("an image");
        assert!(image.rsplit('/').next().unwrap().contains(':'), "{image}: a version");
        for port in service["ports"].as_array().into_iter().flatten() {
            assert!(port.as_str().is_some_and(|it| it.starts_with("127.0.0.1:")), "{name}: {port}");
        }
        for volume in service["volumes"].as_array().expect("volumes") {
            let from = volume.as_str().and_then(|it| it.split(':').next()).expect("a place");
            match from.strip_prefix("./") {
                Some(file) => assert!(repository(file).exists(), "{name}: {file}"),
                None => assert!(compose["volumes"].get(from).is_some(), "{name}: {from}"),
            }
        }
    }
    assert_eq!(services.len(), 3);
    assert_eq!(services["prometheus"]["network_mode"], "service:glyphoxa");
    let source = yaml("deploy/grafana/provisioning/datasources/prometheus.yml");
    assert_eq!(source["datasources"][0]["url"], "http://glyphoxa:9090");
    let provisioned = yaml("deploy/grafana/provisioning/dashboards/glyphoxa.yml");
    let folder = &provisioned["providers"][0];
    let at = format!("{}/dashboard.json", folder["options"]["path"].as_str().expect("a folder"));
    let home = &services["grafana"]["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"];
    assert_eq!(home, at.as_str());
}

#[test]
fn cluster_runs_the_container_three_times() {
    let (alone, cluster) = (yaml("compose.yaml"), yaml("deploy/cluster.yaml"));
    let bot = &alone["services"]["glyphoxa"];
    let all = cluster["x-glyphoxa"].as_object().expect("keys of all processes");
    let own = ["environment", "depends_on"];
    for (key, value) in all.iter().filter(|(key, _)| !own.contains(&key.as_str())) {
        assert_eq!(*value, bot[key], "{key}");
    }
    let services = cluster["services"].as_object().expect("services");
    let mut folders = BTreeSet::new();
    for (name, service) in services {
        assert!(service.get("ports").is_none(), "{name} can be reached");
        let volumes = service["volumes"].as_array().expect("volumes");
        let volume = volumes.last().and_then(Value::as_str).expect("a volume");
        let (volume, folder) = volume.split_once(':').expect("a volume and its place");
        assert!(cluster["volumes"].get(volume).is_some() && folders.insert(volume), "{name}");
        if name != "postgres" {
            for (key, value) in all {
                assert_eq!(service[key], *value, "{name}: {key}");
            }
            assert_eq!(service["command"], serde_json::json!(["run", "--node", name]));
            let tables = bot["volumes"].as_array().expect("volumes").split_last().expect("some").1;
            assert_eq!((folder, &volumes[..2]), ("/data", tables), "{name}");
        }
    }
    assert_eq!(folders.len(), 4, "three processes and a PostgreSQL");
}

#[test]
fn kubernetes_leaves_time_to_hand_over() {
    let deployment = yaml("deploy/kubernetes.yaml");
    assert_eq!(deployment["spec"]["replicas"], 3);
    let update = &deployment["spec"]["strategy"]["rollingUpdate"];
    assert_eq!(*update, serde_json::json!({ "maxUnavailable": 1, "maxSurge": 0 }));
    let pod = &deployment["spec"]["template"]["spec"];
    assert!(pod["terminationGracePeriodSeconds"].as_u64().is_some_and(|it| it >= 20));
    let container = &pod["containers"][0];
    let ready = &container["readinessProbe"]["exec"]["command"];
    assert_eq!(*ready, serde_json::json!(["container-health", "/readyz"]));
    assert_eq!(container["envFrom"][0]["secretRef"]["name"], "glyphoxa");
    assert_eq!(pod["volumes"].as_array().map(Vec::len), Some(2));
    assert!(shipped("Containerfile").contains("useradd --uid 10001"));
    assert_eq!(pod["securityContext"]["runAsUser"], 10_001);
}
