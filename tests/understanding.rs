//! Addressing and dice at the shipped table: lines of the tables that tune both, through the real program.

use serde_json::Value;

use crate::support::program::{Place, shipped};

/// Of so many lines of a kind one is taken.
const EVERY: usize = 6;
/// German lines for the shipped cast; those of the tables are of another one.
const GERMAN: [(&str, &str); 12] = [
    ("Bartok", "Ich frage den Wirt nach einem Zimmer."),
    ("Hale", "Ich wende mich an den Hauptmann."),
    ("Mira", "Ich rede leise mit Mira."),
    ("Greymantle", "Was bedeutet das, Greymantle?"),
    ("Bartok", "Wirt, noch zwei Bier bitte!"),
    ("Hale", "Guten Abend, Hauptmann."),
    ("-", "Gestern habe ich mit dem Wirt gesprochen."),
    ("-", "Vielleicht sollten wir Mira fragen."),
    ("-", "Der Hauptmann sieht müde aus."),
    ("-", "Ich rede nicht mit Greymantle."),
    ("-", "Wo ist eigentlich Mira?"),
    ("-", "Dagny, frag du den Wirt."),
];

/// Every so many of the lines of which `is_of` is true, in all tables whose names begin with `table`.
fn sample(table: &str, cells: usize, is_of: impl Fn(&[&str]) -> bool) -> Vec<Vec<String>> {
    let sets = ["tuning", "held_out", "german"];
    let text: String = sets.map(|set| shipped(&format!("tests/data/{table}_{set}.txt"))).concat();
    let rows = text.lines().filter(|row| !row.starts_with('#'));
    let rows = rows.map(|row| row.splitn(cells, '|').map(str::trim).collect::<Vec<_>>());
    let rows = rows.filter(|row| is_of(row)).step_by(EVERY);
    rows.map(|row| row.into_iter().map(str::to_owned).collect()).collect()
}

/// Output line of each text.
fn said(texts: &[(&str, &str)], options: &[&str]) -> Vec<Value> {
    let place = Place::new().brief();
    let mut arguments = vec!["ask", "--json"];
    arguments.extend(options);
    // All speakers join the table before the first line.
    for (speaker, text) in texts {
        arguments.extend(["--speaker", speaker, "--text", text]);
    }
    let lines = place.run(&arguments).lines();
    assert_eq!(lines.len(), texts.len(), "a line each");
    lines
}

#[test]
fn table_lines_reach_the_npc_they_address() {
    let is_in = |place: &str, row: &[&str]| row[1].split('+').next() == Some(place);
    let for_nobody = |row: &[&str]| row[2] == "-";
    // In conversation and speaking to others; calling an NPC; in no conversation.
    let aside = sample("addresses", 4, |row| {
        is_in("tavern", row) && row[1].contains('+') && for_nobody(row)
    });
    let called = sample("addresses", 4, |row| {
        is_in("tavern", row) && !for_nobody(row) && !row[1].contains('+')
    });
    let spoken_of = sample("addresses", 4, |row| row[1] == "tavern" && for_nobody(row));
    let of = |speaker: &'static str, rows: &[Vec<String>]| -> Vec<_> {
        rows.iter().map(|row| (speaker, row[2].clone(), row[3].clone())).collect()
    };
    let (none, some): (Vec<_>, Vec<_>) = GERMAN
        .map(|(who, text)| (who.to_owned(), text.to_owned()))
        .into_iter()
        .partition(|(who, _)| who == "-");
    let mut rows = of("Anna", &spoken_of);
    rows.extend(none.into_iter().map(|(who, text)| ("Anna", who, text)));
    rows.extend(of("Ben", &called));
    rows.extend(some.into_iter().map(|(who, text)| ("Ben", who, text)));
    rows.extend(of("Ben", &aside));
    assert!(rows.len() >= 30, "{} lines", rows.len());
    let texts: Vec<(&str, &str)> =
        rows.iter().map(|(speaker, _, text)| (*speaker, text.as_str())).collect();
    let wrong: Vec<String> = said(&texts, &[])
        .iter()
        .zip(&rows)
        .filter(|(line, (_, who, _))| match line["npc"].as_str() {
            Some(npc) => !npc.contains(who.as_str()),
            None => who != "-",
        })
        .map(|(line, (_, who, text))| format!("{text:?} is for {who}, not for {}", line["npc"]))
        .collect();
    println!("{} lines reach {} wrong: {wrong:#?}", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dice_of_the_tables_fall_as_they_are_meant() {
    // A line that names no dice may ask for a game of the NPC's own: "roll for initiative".
    let rows = sample("spoken_dice", 3, |row| !row[2].to_lowercase().contains("initiative"));
    assert!(rows.len() >= 30, "{} lines", rows.len());
    let texts: Vec<(&str, &str)> = rows.iter().map(|row| ("Anna", row[2].as_str())).collect();
    let mut wrong = Vec::new();
    for (line, row) in said(&texts, &["--npc", "Bartok"]).iter().zip(&rows) {
        let tools = line["tools"].as_array().cloned().unwrap_or_default();
        let rolled = tools.iter().find(|it| it["tool"] == "dice-roller.roll");
        let rolled = rolled.and_then(|it| it["arguments"]["expression"].as_str()).unwrap_or("-");
        let wanted = match row[1].as_str() {
            "last" | "odds" => "-",
            wanted if wanted.starts_with("odds") => "-",
            wanted => wanted,
        };
        if rolled != wanted {
            wrong.push(format!("{:?}: {rolled}, not {wanted}; {}", row[2], line["reply"]));
        }
    }
    println!("{} lines of dice, {} wrong: {wrong:#?}", rows.len(), wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}
