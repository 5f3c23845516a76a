//! The panel: one message with the state of a session.
//!
//! Entry function: [`render`], of a [`PanelView`]. **Never**: shows spoken words.

use serenity::all::{
    ButtonStyle, CreateActionRow, CreateButton, CreateEmbed, CreateMessage, EditMessage,
};

use crate::{
    commands::seat_line,
    discord::{
        ui::{
            action::{Action, PanelButton},
            names::{escaped, marked},
            notices,
        },
        voice::ConnectionState,
    },
    logic::words::capitalised,
    session::{Quantiles, SeatStatus, State, Status},
};

/// Longest value of a field, in characters (Discord's limit).
const FIELD_MAX: usize = 1_024;

pub struct PanelView<'a> {
    /// `None`: not reported.
    pub status: Option<&'a Status>,
    pub heard: Vec<&'a str>,
    pub unheard: Vec<&'a str>,
    /// Reason for hearing no player, with the fix.
    pub cannot_hear: Option<&'a str>,
    /// Programs outside may read what is said.
    pub is_listened_to: bool,
    pub connection: &'a ConnectionState,
    /// The node that serves the server, if there may be several.
    pub node: Option<&'a str>,
    pub notes: Vec<&'a str>,
    /// Reason the session is over; `None`: it runs.
    pub over: Option<&'a str>,
}

#[derive(Clone)]
pub struct Rendered {
    /// One line for screen readers.
    pub line: String,
    fields: Vec<(&'static str, String)>,
    rows: Vec<CreateActionRow>,
}

impl Rendered {
    pub fn text(&self) -> String {
        let fields = self.fields.iter().map(|(name, value)| format!("**{name}**\n{value}"));
        std::iter::once(self.line.clone()).chain(fields).collect::<Vec<_>>().join("\n")
    }

    fn embed(&self) -> CreateEmbed {
        let fields = self.fields.iter().map(|(name, value)| (*name, value.clone(), false));
        CreateEmbed::new().title("Glyphoxa").fields(fields)
    }

    pub fn message(&self) -> CreateMessage {
        CreateMessage::new()
            .content(self.line.clone())
            .embed(self.embed())
            .components(self.rows.clone())
    }

    pub fn edit(&self) -> EditMessage {
        EditMessage::new()
            .content(self.line.clone())
            .embed(self.embed())
            .components(self.rows.clone())
    }
}

pub fn render(view: &PanelView<'_>) -> Rendered {
    let state = match (view.over, view.status) {
        (Some(why), _) => format!("The session is over: {why}."),
        (None, Some(status)) => format!("{}.", capitalised(&status.state.to_string())),
        (None, None) => "The table does not answer.".to_owned(),
    };
    let mut line = format!("{state} Heard: {}.", names(&view.heard));
    if !view.unheard.is_empty() {
        line.push_str(&format!(" Not heard: {}.", names(&view.unheard)));
    }
    let mut fields = Vec::new();
    if let Some(why) = view.cannot_hear {
        line.push_str(" I can't hear.");
        fields.push(("Hearing", fit([notices::cannot_hear(why)])));
    }
    if let Some(status) = view.status {
        fields.push(("NPCs", npcs(&status.seats)));
        if let Some(scene) = scene(status) {
            fields.push(("Scene", scene));
        }
        if !status.music.playing.is_empty() {
            // Titles could be spoilers.
            let layers = status.music.playing.iter().map(|(layer, _)| layer.name());
            fields.push(("Music", layers.collect::<Vec<_>>().join(", ")));
        }
        fields.push(("Thinking", thinking(&status.seats)));
        fields.push(("Utterances", counts(status)));
        fields.push(("From end of speech, p50 / p95", latencies(status)));
    }
    if view.is_listened_to {
        fields.push(("Programs outside", notices::LISTENED.to_owned()));
    }
    fields.push(("Voice connection", connection(view.connection)));
    if let Some(node) = view.node {
        fields.push(("Node", node.to_owned()));
    }
    if !view.notes.is_empty() {
        fields.push(("Notes", fit(view.notes.iter().map(|note| format!("• {note}")))));
    }
    let paused = view.status.is_some_and(|it| it.state == State::Paused);
    let plays = view.status.is_some_and(|it| !it.music.playing.is_empty());
    let rows = match view.over {
        Some(_) => Vec::new(),
        None => [Some(buttons(paused)), plays.then(music_buttons)].into_iter().flatten().collect(),
    };
    Rendered { line, fields, rows }
}

fn buttons(paused: bool) -> CreateActionRow {
    let button = |button, label, style| {
        CreateButton::new(Action::Panel(button).id()).label(label).style(style)
    };
    let (pause, label) =
        if paused { (PanelButton::Resume, "Resume") } else { (PanelButton::Pause, "Pause") };
    CreateActionRow::Buttons(vec![
        button(PanelButton::Mute, "Mute all", ButtonStyle::Secondary),
        button(pause, label, ButtonStyle::Secondary),
        button(PanelButton::Next, "Next speaker", ButtonStyle::Secondary),
        button(PanelButton::XCard, "X-card", ButtonStyle::Danger),
        button(PanelButton::End, "End", ButtonStyle::Danger),
    ])
}

/// The row shown while music plays.
fn music_buttons() -> CreateActionRow {
    let stop = CreateButton::new(Action::Panel(PanelButton::StopMusic).id());
    let stop = stop.label("Stop music").style(ButtonStyle::Secondary);
    CreateActionRow::Buttons(vec![stop])
}

fn names(people: &[&str]) -> String {
    match people {
        [] => "no one".to_owned(),
        people => people.iter().map(|it| escaped(it)).collect::<Vec<_>>().join(", "),
    }
}

fn npcs(seats: &[SeatStatus]) -> String {
    fit(seats.iter().map(|seat| marked(&seat_line(seat))))
}

/// Every chat model in use, with its NPCs if they differ.
fn thinking(seats: &[SeatStatus]) -> String {
    let mut brains: Vec<(&str, Vec<&str>)> = Vec::new();
    for seat in seats {
        match brains.iter_mut().find(|(brain, _)| *brain == seat.brain) {
            Some((_, who)) => who.push(&seat.name),
            None => brains.push((seat.brain.as_str(), vec![seat.name.as_str()])),
        }
    }
    match brains.as_slice() {
        [] => "nobody".to_owned(),
        [(brain, _)] => escaped(brain),
        several => fit(several
            .iter()
            .map(|(brain, who)| format!("{}: {}", who.join(", "), escaped(brain)))),
    }
}

fn scene(status: &Status) -> Option<String> {
    let scene = &status.scene;
    let parts: Vec<&str> =
        [&scene.location, &scene.time_of_day].into_iter().flatten().map(String::as_str).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn counts(status: &Status) -> String {
    let mut text = format!(
        "{}: {} answered, {} without an answer, {} failed · spent {:.2}",
        status.utterances, status.answered, status.silent, status.errors, status.spent
    );
    if status.unwritten.is_troubled() {
        text.push_str(&format!(" · memory: {}", status.unwritten));
    }
    text
}

fn latencies(status: &Status) -> String {
    let latency = &status.latency;
    let stages = [
        ("speech to text", latency.speech_end_to_final),
        ("first token", latency.final_to_first_text),
        ("first audio", latency.first_text_to_first_audio),
        ("whole turn", latency.speech_end_to_first_audio),
    ];
    let known = stages.into_iter().filter_map(|(name, it)| Some(format!("{name} {}", ms(it?))));
    match known.collect::<Vec<_>>().join(" · ") {
        text if text.is_empty() => "no answer was spoken yet".to_owned(),
        text => text,
    }
}

fn ms(it: Quantiles) -> String {
    format!("{:.0} / {:.0} ms", it.p50, it.p95)
}

fn connection(state: &ConnectionState) -> String {
    match state {
        ConnectionState::Up => "connected, encrypted".to_owned(),
        ConnectionState::Left => "left".to_owned(),
        ConnectionState::Down { why, attempts } => {
            format!("lost: {why}; reconnecting (attempt {})", attempts + 1)
        }
    }
}

/// As many lines as a field takes, and the number of the rest.
fn fit(lines: impl IntoIterator<Item = String>) -> String {
    let lines: Vec<String> = lines.into_iter().collect();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let more = format!("\n… and {} more", lines.len() - index);
        if text.chars().count() + line.chars().count() + 1 + more.chars().count() > FIELD_MAX {
            text.push_str(&more);
            break;
        }
        if index > 0 {
            text.push('\n');
        }
        text.push_str(line);
    }
    text
}
