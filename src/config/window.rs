//! Checks that the chat model's window has room for the cast, not counting tools.

use super::{checked::Config, keys, reading::Notes};
use crate::{
    domain::Npc,
    logic::{prompt::system_prompt, window::Gauge},
    yaml::{Fields, Position, quoted},
};

/// Percent of the window above which too little is left for a conversation.
const MUCH: u64 = 50;

/// Warns of an answer limit and NPCs that leave little room for talk; `file` describes the model.
pub fn check(config: &Config, file: &Fields, notes: &mut Notes) {
    let providers = file.map("providers", &keys::providers::PROVIDERS);
    let at = providers.map_or(Position::START, |it| it.place("llm"));
    let models = &config.services.models;
    let Some(window) = models.window() else { return };
    let asks = |npc: &&Npc| !models.says_lines(npc.thinks_with());
    let own = config.npcs.iter().filter(asks).map(|npc| config.longest_answer(npc));
    let answer = own.fold(config.session.max_tokens, u32::max);
    if Gauge::new(window, answer).percent(0) > MUCH {
        let message = format!("answers of {answer} tokens leave no room in a window of {window}");
        let way_out = "lower max_tokens, or set context_window to the server's setting";
        return notes.problems.add(at, message, way_out);
    }
    for npc in config.npcs.iter().filter(asks) {
        let prompt = system_prompt(npc, &config.campaign);
        let gauge = Gauge::new(window, config.longest_answer(npc));
        let percent = gauge.percent(u64::try_from(prompt.len()).unwrap_or(u64::MAX));
        if percent > MUCH {
            let npc = quoted(&npc.name);
            let message = format!(
                "the prompt of {npc} and an answer fill about {percent} % of the model's window of \
                 {window} tokens"
            );
            let way_out =
                "shorten its file or the campaign, or set context_window to the server's setting";
            notes.warnings.add(at, message, way_out);
        }
    }
}
