//! The script that the README's commands are.

use std::process::Command;

use crate::support::program::{Ran, repository, run};

fn dev(arguments: &[&str]) -> Ran {
    let mut command = Command::new(repository("dev"));
    command.args(arguments).current_dir(std::env::temp_dir());
    run(command, "")
}

#[test]
fn help_names_every_command() {
    let help = dev(&["--help"]).ends_with(0);
    for command in ["demo", "talk", "test", "bench", "setup"] {
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

#[test]
fn the_scripts_can_be_read_by_bash() {
    for script in ["dev", ".ci/run"] {
        let mut command = Command::new("bash");
        command.arg("-n").arg(repository(script));
        assert_eq!(run(command, "").ends_with(0).stderr, "");
    }
}
