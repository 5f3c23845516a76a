//! The script that the README's first commands are, and the files that host the bot.

use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, process::Command};

use serde_json::Value;

use crate::support::{
    program::{Place, Ran, repository, run, shipped},
    skipped::skipped,
};

fn dev(arguments: &[&str]) -> Ran {
    let mut command = Command::new(repository("dev"));
    command.args(arguments).current_dir(std::env::temp_dir());
    run(command, "")
}

#[test]
fn help_names_every_command() {
    let help = dev(&["--help"]).ends_with(0);
    for command in [
        "demo", "talk", "rehearse", "quick", "test", "proof", "screens", "bench", "setup", "models",
    ] {
        let named = help.stdout.lines().any(|line| line.trim_start().starts_with(command));
        assert!(named, "{command}: {help:#?}");
    }
}

#[test]
fn unknown_commands_are_wrong_usage() {
    for wrong in [&[][..], &["dmeo"]] {
        let refused = dev(wrong).ends_with(2);
        assert!(refused.stderr.starts_with("usage: ./dev COMMAND"), "{refused:#?}");
        assert_eq!(refused.stdout, "");
    }
}

/// Without a PATH there is no Rust, so that nothing but this is said.
#[test]
fn test_duration_is_printed_before_start() {
    let place = Place::new();
    let mut command = Command::new("/bin/bash");
    command.arg(repository("dev")).arg("test").current_dir(place.path("."));
    command.env("PATH", place.path("nothing"));
    let refused = run(command, "").ends_with(1);
    let (said, missing) = (
        refused.stderr.find("testing: with two cores about 20 minutes the first time"),
        refused.stderr.find("Rust is missing"),
    );
    assert!(said.is_some() && said < missing, "{refused:#?}");
}

#[test]
fn scripts_can_be_read_by_bash() {
    for script in ["dev", ".ci/run", "tests/support/postgres.sh"] {
        let mut command = Command::new("bash");
        command.arg("-n").arg(repository(script));
        assert_eq!(run(command, "").ends_with(0).stderr, "");
    }
}

/// A place with the script, and with stand-ins for what it installs and builds with. What is built says
/// how it was started.
fn with_stand_ins() -> Place {
    let place = Place::new();
    place.write("dev", shipped("dev"));
    for (name, does) in [
        ("cc", ""),
        ("dpkg-query", "printf 'install ok installed'"),
        (
            "cargo",
            "[ \"$1\" = build ] || exit 0
             mkdir -p target/trying
             printf '#!/bin/sh\\necho started: \"$@\"\\n' >target/trying/glyphoxa
             chmod +x target/trying/glyphoxa
             echo ' Downloading crates ...' >&2
             echo '   Compiling glyphoxa v0.1.0' >&2
             echo '    Finished `trying` profile' >&2",
        ),
    ] {
        program(&place, &format!("bin/{name}"), does);
    }
    place
}

/// Writes a program of the shell.
fn program(place: &Place, name: &str, does: &str) {
    place.write(name, format!("#!/bin/sh\n{does}\n"));
    let all = fs::Permissions::from_mode(0o755);
    fs::set_permissions(place.path(name), all).expect("a program");
}

#[test]
fn demo_without_model_files_types_the_line() {
    let place = with_stand_ins();
    program(
        &place,
        "bin/cargo",
        "[ \"$1\" = build ] || exit 0
         mkdir -p target/trying
         printf '#!/bin/sh\\n[ \"$1\" != models ] && echo started: \"$@\"\\n' >target/trying/glyphoxa
         chmod +x target/trying/glyphoxa",
    );
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.path("bin").display());
    let mut script = Command::new("bash");
    script.arg(place.path("dev")).arg("demo").env("PATH", &path).env_remove("CARGO_TARGET_DIR");
    let ran = run(script, "").ends_with(0);
    let typed =
        "started: ask --verbose --text Bartok, please roll two d six plus three --out demo.wav\n";
    assert_eq!(ran.stdout, typed, "{ran:#?}");
    assert!(ran.stderr.contains("WITHOUT the model files: nobody is heard"), "{ran:#?}");
}

#[test]
fn first_try_leaves_a_link_to_the_program() {
    let place = with_stand_ins();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.path("bin").display());
    for (command, started) in [
        ("demo", "started: ask --verbose --in assets/demo/player.wav --out demo.wav\n"),
        ("talk", "started: ask\n"),
        ("rehearse", "started: rehearse\n"),
    ] {
        let mut script = Command::new("bash");
        script.arg(place.path("dev")).arg(command).env("PATH", &path);
        script.env_remove("CARGO_TARGET_DIR");
        let ran = run(script, "").ends_with(0);
        assert!(ran.stdout.ends_with(started), "{ran:#?}");
        let built = fs::canonicalize(place.path("target/trying/glyphoxa")).expect("it is built");
        assert_eq!(fs::canonicalize(place.path("glyphoxa")).expect("a link"), built);
        for said in [
            "about 5 minutes the first time",
            "downloading the parts it is made of",
            "building the last part, Glyphoxa itself",
            "built: ./glyphoxa",
        ] {
            assert!(ran.stderr.contains(said), "{said}: {ran:#?}");
        }
        let of_cargo = ["Compiling", "Downloading", "Finished"];
        assert!(!of_cargo.iter().any(|word| ran.stderr.contains(word)), "{ran:#?}");
    }
}

/// `./dev COMMAND` with stand-ins, and without third-party software.
fn dev_with(place: &Place, command: &str) -> Ran {
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", place.path("bin").display());
    let mut script = Command::new("bash");
    script.arg(place.path("dev")).arg(command).env("PATH", &path);
    script.env_remove("CARGO_TARGET_DIR").env("GLYPHOXA_TEST_FILES", place.path("nothing"));
    run(script, "")
}

#[test]
fn what_a_machine_lacks_is_said_before_tests() {
    let place = with_stand_ins();
    for (name, does) in [
        ("df", "echo Filesystem; echo /dev/disk 9000000 3757120 5242880 42% /"),
        ("stat", "echo character special file, mode 600"),
        ("python3", "echo OSError: no such address >&2; exit 1"),
    ] {
        program(&place, &format!("bin/{name}"), does);
    }
    for command in ["quick", "test"] {
        let ran = dev_with(&place, command).ends_with(1);
        for lacking in [
            "LACKING  space: 5 GB free below ",
            "LACKING  /dev/null: character special file, mode 600 (",
            "LACKING  loopback: no port of 127.0.0.1, OSError: no such address (",
        ] {
            assert!(ran.stderr.contains(lacking), "{lacking}: {ran:#?}");
        }
        assert!(!ran.stderr.contains("STAGE"), "{ran:#?}");
    }
}

#[test]
fn stages_are_listed_after_a_failure_too() {
    let place = with_stand_ins();
    // Enough space and memory.
    program(&place, "bin/awk", "cat >/dev/null; echo 99999999");
    program(&place, "bin/python3", "");
    for (fails, status, stages) in [
        ("fmt", 3, vec![("format", true), ("total", true)]),
        ("test", 3, vec![("format", false), ("build", true), ("total", true)]),
        ("nextest", 1, vec![("format", false), ("build", false), ("tests", true), ("total", true)]),
        (
            "nothing",
            0,
            vec![("format", false), ("build", false), ("tests", false), ("total", false)],
        ),
    ] {
        // With cargo-nextest.
        let does = format!("[ \"$2\" = --version ] || [ \"$1\" != {fails} ] || exit {status}");
        program(&place, "bin/cargo", &does);
        let ran = dev_with(&place, "quick").ends_with(status);
        let lines = ran.stderr.lines().filter_map(|line| line.strip_prefix("STAGE  "));
        let listed = lines
            .map(|line| (line.split(' ').next().expect("a name"), line.ends_with(" s, FAILED")));
        assert_eq!(listed.collect::<Vec<_>>(), stages, "{fails}: {ran:#?}");
    }
}

/// Packages of the script: those that build, and those that run.
fn packages() -> (BTreeSet<String>, BTreeSet<String>) {
    let script = shipped("dev");
    let list = script.split("packages() {\n    cat <<'EOF'\n").nth(1);
    let list = list.and_then(|rest| rest.split("\nEOF").next());
    let names = list.expect("the list").lines().filter_map(|line| line.split(' ').next());
    names.map(str::to_owned).partition(|name| name.ends_with("-dev") || name == "pkg-config")
}

/// Packages each stage of the container file installs.
fn installed() -> Vec<BTreeSet<String>> {
    let file = shipped("Containerfile");
    let stages = file.split("\nFROM ").skip(1).map(|stage| {
        let lines = stage.lines().map(str::trim);
        let lines = lines.skip_while(|line| !line.contains("apt-get install")).skip(1);
        let names = lines.take_while(|line| !line.starts_with("&&"));
        names.map(|line| line.trim_end_matches(" \\").to_owned()).collect()
    });
    stages.collect()
}

#[test]
fn container_has_the_packages_of_the_script() {
    let (build, mut run) = packages();
    // The codec itself, which its -dev package brings; and whom to trust on the network.
    run.extend(["libopus0", "ca-certificates"].map(str::to_owned));
    assert_eq!(installed(), [build, run]);
    let rust = shipped("Cargo.toml");
    let rust = rust.split("rust-version = \"").nth(1).and_then(|it| it.split('"').next());
    let image = format!("docker.io/library/rust:{}-", rust.expect("a version"));
    assert!(shipped("Containerfile").contains(&image), "{image}");
}

#[test]
fn container_starts_what_there_is() {
    let compose: Value = serde_yaml::from_str(&shipped("compose.yaml")).expect("YAML");
    let bot = &compose["services"]["glyphoxa"];
    assert!(repository(bot["build"]["dockerfile"].as_str().expect("a file")).exists());
    let file = shipped("Containerfile");
    for volume in bot["volumes"].as_array().expect("volumes") {
        let place = volume.as_str().and_then(|it| it.split(':').nth(1)).expect("a place");
        if place == "/table/.env" {
            // Covers the file of the keys, which are in the environment.
            assert_eq!(volume, "/dev/null:/table/.env:ro");
            continue;
        }
        assert!(
            file.contains(&format!("install -d -o glyphoxa -g glyphoxa -m 700 {place}"))
                || file.contains(&format!("WORKDIR {place}\n")),
            "{place}"
        );
    }
    let covered = bot["volumes"].as_array().expect("volumes");
    assert_eq!(bot["env_file"], ".env");
    assert!(covered.iter().any(|it| it == "/dev/null:/table/.env:ro"), "the keys can be read");
    assert!(bot["mem_limit"].is_string() && bot["pids_limit"].is_number());
    // The variable moves what is kept into the volume.
    assert!(file.contains("ENV GLYPHOXA_DATA=/data\n") && file.contains("VOLUME /data\n"));
    // So does this one what came with the container, which is where the container puts it.
    let models = "/usr/local/share/glyphoxa/models";
    for line in [
        format!("glyphoxa models get --default --dir {models})"),
        format!("COPY --from=build {models} {models}\n"),
        format!("ENV GLYPHOXA_MODELS={models}\n"),
        format!("chmod -R a+rX {models}\n"),
    ] {
        assert!(file.contains(&line), "{line}");
    }
    // No folder can be made there.
    let below = "/proc/glyphoxa/below";
    let doctor = Place::new().env("GLYPHOXA_DATA", below).run(&["doctor"]).ends_with(1);
    assert!(doctor.stdout.contains(&format!("✗ disk: '{below}' ")), "{doctor:#?}");
}

/// The step of the container's build that gets the model files, as the shell runs it there.
fn step_of_models() -> String {
    let file = shipped("Containerfile");
    let (_, step) = file.split_once("\nARG MODELS=required\nRUN ").expect("the step");
    let lines: Vec<&str> = step.split_inclusive('\n').collect();
    let last = lines.iter().position(|line| !line.ends_with("\\\n")).expect("an end");
    lines[..=last].concat()
}

#[test]
fn container_is_not_built_without_models() {
    for (arrive, models, status, said) in [
        (true, "required", 0, ""),
        (false, "required", 1, "build again later, or with --build-arg MODELS=optional"),
        (false, "yes", 1, "build again later, or with --build-arg MODELS=optional"),
        (false, "optional", 0, "WITHOUT the model files"),
    ] {
        let place = Place::new();
        let folder = place.path("models").display().to_string();
        let arrived =
            "mkdir -p \"$5/.parts\" && touch \"$5/.lock\" \"$5/model\" && chmod 600 \"$5/model\"";
        let does = if arrive { arrived } else { "echo not got >&2; exit 1" };
        program(&place, "bin/glyphoxa", does);
        let step = step_of_models().replace("/usr/local/share/glyphoxa/models", &folder);
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &step]).env("MODELS", models);
        shell.env("PATH", format!("{}:/usr/bin:/bin", place.path("bin").display()));
        let ran = run(shell, "").ends_with(status);
        assert!(ran.stdout.contains(said), "{ran:#?}");
        if status == 0 {
            let left = fs::read_dir(&folder).expect("a folder").count();
            assert_eq!(left, usize::from(arrive), "what only the download needs is gone");
        }
        if arrive {
            let about = fs::metadata(place.path("models/model")).expect("a file");
            assert_eq!(about.permissions().mode() & 0o777, 0o644, "everybody reads it");
        }
    }
}

/// Values of a key of the service.
fn service(key: &str) -> Vec<String> {
    let file = shipped("deploy/glyphoxa.service");
    let values = file.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    values.map(str::to_owned).collect()
}

#[test]
fn service_unit_runs_valid_command() {
    let start = service("ExecStart");
    let mut words = start.first().expect("a command").split(' ');
    assert_eq!(words.next(), Some("/usr/local/bin/glyphoxa"));
    let arguments: Vec<&str> = words.chain(["--help"]).collect();
    let help = Place::new().run(&arguments).ends_with(0);
    assert!(help.stdout.contains("glyphoxa run"), "{help:#?}");
    let data = service("Environment").concat();
    assert!(data.contains("GLYPHOXA_DATA=/var/lib/glyphoxa"), "{data}");
    assert_eq!(service("StateDirectory"), ["glyphoxa"]);
}

/// One folder, for every way to install: the unit, the container, and the page that says how.
#[test]
fn models_lie_where_the_service_looks_for_them() {
    let folder = "/usr/local/share/glyphoxa/models";
    let environment = service("Environment");
    assert!(environment.contains(&format!("GLYPHOXA_MODELS={folder}")), "{environment:?}");
    assert!(shipped("Containerfile").contains(&format!("\nENV GLYPHOXA_MODELS={folder}\n")));
    let page = shipped("docs/discord.md");
    let get = format!("\nsudo glyphoxa models get --default --dir {folder} ");
    let read = format!("\nsudo chmod -R a+rX {folder} ");
    let at = [&get, &read].map(|line| page.find(line.as_str()).expect("a line of the page"));
    let starts = page.find("\nsudo systemctl enable").expect("a line of the page");
    assert!(at[0] < at[1] && at[1] < starts);
}

#[test]
fn systemd_understands_the_service() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_glyphoxa");
    let unit = shipped("deploy/glyphoxa.service").replace("/usr/local/bin/glyphoxa", program);
    place.write("glyphoxa.service", unit);
    let mut command = Command::new("systemd-analyze");
    if command.arg("--version").output().is_err() {
        return skipped("deploy/glyphoxa.service", "there is no systemd-analyze");
    }
    let mut command = Command::new("systemd-analyze");
    command.args(["verify", "--man=no"]).arg(place.path("glyphoxa.service"));
    assert_eq!(run(command, "").ends_with(0).stderr, "");
}

/// Files that the commands for a service name.
#[test]
fn hosting_commands_name_files_that_exist() {
    let page = shipped("docs/discord.md");
    let blocks: String =
        page.split("```bash\n").skip(1).filter_map(|it| it.split("```").next()).collect();
    let folders = ["npcs", "campaigns", "tools", "workflows"];
    for file in ["deploy/glyphoxa.service", "glyphoxa.yaml"].into_iter().chain(folders) {
        assert!(blocks.contains(file) && repository(file).exists(), "{file}");
    }
}

/// The program finds keys that systemd hands over and only root can read.
#[test]
fn service_is_given_its_keys_as_a_credential() {
    assert_eq!(service("LoadCredential"), ["environment:/etc/glyphoxa/environment"]);
    assert!(service("EnvironmentFile").is_empty());
    assert_eq!((service("MemoryMax").len(), service("TasksMax").len()), (1, 1));
    let place = Place::with_config("npc_dir: \"${WHERE}\"\n");
    place.write("credentials/environment", "# keys\nWHERE=\"nowhere at all\"\n");
    let folder = place.path("credentials").display().to_string();
    let check = place.env("CREDENTIALS_DIRECTORY", &folder).run(&["check"]).ends_with(2);
    assert!(
        check.stdout.contains("'nowhere at all'") || check.stderr.contains("nowhere at all"),
        "{check:#?}"
    );
}
