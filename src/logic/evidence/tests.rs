use super::*;

const PEOPLE: [&str; 6] =
    ["Anna", "Ben", "Bartok the Barkeep", "Mira Quickfingers", "Captain Hale", "Greymantle"];

/// Lines as "who>to: text", with " / " between a question and its answer.
fn told(lines: &str) -> Vec<Told<'_>> {
    let line = |line| {
        let (who, text): (&str, &str) = str::split_once(line, ": ").unwrap();
        let (who, to) = who.split_once('>').map_or((who, None), |(who, to)| (who, Some(to)));
        Told { who, to, text }
    };
    lines.split(" / ").map(line).collect()
}

/// Lines, claims they prove, and claims they do not.
const CLAIMS: [(&str, &[&str], &[&str]); 28] = [
    (
        "Bartok>Anna: I sell you the map for three silver.",
        &["Bartok sells Anna the map for 3 silver."],
        &[
            "Anna sells Bartok the map for three silver.",
            "Bartok sells Ben the map for three silver.",
            "Bartok sells Anna the map for four silver.",
            "Bartok sells Anna the map for thirty silver.",
        ],
    ),
    (
        "Anna>Bartok: I promise to bring your hammer back.",
        &["Anna promises to bring Bartok's hammer back."],
        &[
            "Bartok promises to bring Anna's hammer back.",
            "Bartok brings the hammer back.",
            "Anna promises not to bring the hammer back.",
        ],
    ),
    (
        "Captain Hale>Ben: I will not help you against the Rookery.",
        &["Captain Hale will not help Ben against the Rookery."],
        &[
            "Captain Hale will help Ben against the Rookery.",
            "Hale helps Ben against the Rookery.",
            "Ben will not help Captain Hale against the Rookery.",
        ],
    ),
    (
        "Ben>Mira: Mira, Bartok stole the ring.",
        &["Ben tells Mira that Bartok stole the ring.", "Bartok stole the ring."],
        &[
            "Mira stole the ring.",
            "Ben stole the ring.",
            "Bartok tells Mira that Ben stole the ring.",
            "He stole the ring.",
            "Bartok stole the crown.",
            "Bartok never stole the ring.",
        ],
    ),
    (
        "Mira>Anna: Bartok owes me seven gold.",
        &["Bartok owes Mira seven gold."],
        &[
            "Mira owes Bartok seven gold.",
            "Anna owes Mira seven gold.",
            "Bartok owes Mira seventy gold.",
            "Bartok owes Mira nothing.",
        ],
    ),
    (
        "Anna>Bartok: Where is the silver key? / Bartok>Anna: Under the mill.",
        &["The silver key is under the mill.", "Anna asks Bartok where the silver key is."],
        &[
            "The silver key is not under the mill.",
            "The golden key is under the mill.",
            "Bartok asks Anna where the silver key is.",
        ],
    ),
    (
        "Anna>Bartok: Did Mira kill the duke? / Bartok>Anna: Ask the captain.",
        &["Anna asks Bartok whether Mira killed the duke."],
        &["Mira killed the duke.", "Bartok says that Mira killed the duke."],
    ),
    (
        "Anna>Bartok: Did Mira kill the duke? / Bartok>Anna: No.",
        &[],
        &["Mira killed the duke.", "Bartok killed the duke."],
    ),
    (
        "Anna>Bartok: Did Mira kill the duke? / Bartok>Anna: Yes, she did.",
        &["Mira killed the duke."],
        &["Anna killed the duke.", "Bartok killed the duke.", "Mira did not kill the duke."],
    ),
    (
        "Captain Hale>Anna: If you kill the wolf, I pay twenty gold.",
        &["If Anna kills the wolf, Hale pays twenty gold."],
        &["Anna kills the wolf.", "Hale pays Anna twenty gold.", "Captain Hale pays 20 gold."],
    ),
    (
        "Ben>Captain Hale: You gave me the signet, Captain.",
        &["Captain Hale gave Ben the signet."],
        &["Ben gave Captain Hale the signet.", "Ben gave the signet.", "Mira gave Ben the signet."],
    ),
    (
        "Ben>Bartok: Tamsin Pell hides in room four.",
        &["Tamsin Pell hides in room four.", "Ben says that Tamsin Pell hides in room 4."],
        &[
            "Tamsin Pell hides in room five.",
            "Bartok hides in room four.",
            "Bartok says that Tamsin Pell hides in room four.",
        ],
    ),
    (
        "Greymantle>Ben: The observatory was never burned.",
        &["The observatory was never burned."],
        &["The observatory was burned.", "Greymantle burned the observatory."],
    ),
    (
        "Anna>Mira: I give Ben the rope.",
        &["Anna gives Ben the rope."],
        &["Ben gives Anna the rope.", "Anna gives Mira the rope.", "Mira gives Ben the rope."],
    ),
    (
        "Bartok>Anna: The duke is dead. I married young.",
        &["The duke is dead."],
        &["Bartok killed the duke.", "Anna married the duke.", "The duke is not dead."],
    ),
    (
        "Ben>Bartok: Vielleicht hat Mira den Ring gestohlen.",
        &["Vielleicht hat Mira den Ring gestohlen."],
        &["Mira hat den Ring gestohlen.", "Bartok hat den Ring gestohlen."],
    ),
    (
        "Bartok>Anna: Ich verkaufe dir die Karte nicht.",
        &["Bartok verkauft Anna die Karte nicht."],
        &["Bartok verkauft Anna die Karte.", "Anna verkauft Bartok die Karte nicht."],
    ),
    (
        "Mira>Ben: Ich schulde dem Hauptmann zwölf Silber.",
        &["Mira schuldet dem Hauptmann zwölf Silber.", "Mira schuldet dem Hauptmann 12 Silber."],
        &["Ben schuldet dem Hauptmann zwölf Silber.", "Mira schuldet dem Hauptmann elf Silber."],
    ),
    (
        "Anna>Ben: My sister Elspeth lives in Graywater.",
        &["Anna's sister Elspeth lives in Graywater."],
        &["Ben's sister Elspeth lives in Graywater.", "Elspeth lives in Ravenford."],
    ),
    (
        "Bartok>Anna: I would never lend Mira my boat.",
        &["Bartok would never lend Mira his boat."],
        &[
            "Bartok lends Mira his boat.",
            "Mira would never lend Bartok her boat.",
            "Bartok would lend Mira his boat.",
        ],
    ),
    (
        "Bartok>Anna: The duke pays two hundred gold for the signet.",
        &["The duke pays two hundred gold for the signet.", "The duke pays 200 gold."],
        &[
            "Anna pays the duke two hundred gold for the signet.",
            "Bartok pays two hundred gold for the signet.",
            "Anna pays two hundred gold for the signet.",
            "The duke pays Anna two hundred gold for the signet.",
            "The duke is paid two hundred gold for the signet.",
            "The signet pays the duke.",
        ],
    ),
    (
        "Ben>Bartok: The guild sold the smugglers a ship.",
        &["The guild sold the smugglers a ship."],
        &[
            "The smugglers sold the guild a ship.",
            "The guild was sold a ship by the smugglers.",
            "The smugglers sold a ship.",
            "Ben sold the smugglers a ship.",
        ],
    ),
    (
        "Mira>Anna: The bishop was robbed by the miller.",
        &["The bishop was robbed by the miller."],
        &[
            "The bishop robbed the miller.",
            "The miller was robbed by the bishop.",
            "Mira robbed the bishop.",
            "Mira was robbed by the miller.",
        ],
    ),
    (
        "Anna>Bartok: I gave the rope away and Ben took the hammer.",
        &["Anna gave the rope away.", "Ben took the hammer."],
        &["Anna took the hammer.", "Ben gave the rope away.", "Bartok took the hammer."],
    ),
    (
        "Captain Hale>Ben: The duke keeps the seal, the bishop wants the crown.",
        &["The duke keeps the seal.", "The bishop wants the crown."],
        &["The duke wants the crown.", "The bishop keeps the seal.", "Hale keeps the seal."],
    ),
    (
        "Mira>Ben: Der Herzog zahlt der Gilde neunzig Gold.",
        &["Der Herzog zahlt der Gilde neunzig Gold.", "Der Herzog zahlt der Gilde 90 Gold."],
        &[
            "Die Gilde zahlt dem Herzog neunzig Gold.",
            "Mira zahlt der Gilde neunzig Gold.",
            "Der Herzog zahlt der Gilde neun Gold.",
            "Der Herzog zahlt Ben neunzig Gold.",
        ],
    ),
    (
        "Ben>Mira: Der Schmied wurde von Greymantle verraten.",
        &["Der Schmied wurde von Greymantle verraten."],
        &["Der Schmied verriet Greymantle.", "Greymantle wurde von dem Schmied verraten."],
    ),
    (
        "Bartok>Ben: I think the widow stole it. / Bartok>Ben: The widow owes the ferryman five coins.",
        &["The widow owes the ferryman five coins."],
        &["The ferryman owes the widow five coins.", "Bartok owes the ferryman five coins."],
    ),
];

/// Lines and claims in other words; each rewording could be misused.
const REWORDED: [(&str, &[&str], &[&str]); 33] = [
    (
        "Bartok>Anna: Bandits burned the mill.",
        &["The mill was burned by bandits."],
        &[
            "Bandits were burned by the mill.",
            "The mill burned bandits.",
            "The mill was burned by Anna.",
        ],
    ),
    (
        "Ben>Bartok: I sell you my horse.",
        &["Ben sold his horse to Bartok.", "Ben sells Bartok his horse."],
        &[
            "Bartok sold his horse to Ben.",
            "Ben sold his horse to Anna.",
            "Anna sold her horse to Bartok.",
            "Ben's horse sold Bartok.",
        ],
    ),
    (
        "Anna>Bartok: I give you the map, and you take the lantern.",
        &["Anna gave Bartok the map."],
        &["Anna gave Bartok the map and took the lantern.", "Anna took the lantern."],
    ),
    (
        "Anna>Bartok: Bartok, who poisoned the well? / Bartok>Anna: The tanner did, with nightshade.",
        &["The tanner poisoned the well."],
        &["The well poisoned the tanner.", "Anna poisoned the well.", "Bartok poisoned the well."],
    ),
    (
        "Anna>Bartok: Whom did the tanner poison? / Bartok>Anna: The miller, with nightshade.",
        &[],
        &["The miller poisoned the tanner.", "The miller poisoned with nightshade."],
    ),
    (
        "Anna>Bartok: Who did the tanner poison? / Bartok>Anna: The miller, with nightshade.",
        &[],
        &["The miller poisoned the tanner.", "The miller poisoned."],
    ),
    (
        "Anna>Bartok: Did the smith kill the wolf? / Bartok>Anna: The hunter did, in the snow.",
        &["The hunter killed the wolf."],
        &["The smith killed the wolf.", "The hunter killed the smith."],
    ),
    (
        "Anna>Bartok: Can the smith mend the bell? / Bartok>Anna: The smith cannot, not without tin.",
        &["The smith cannot mend the bell without tin."],
        &["The smith can mend the bell.", "The bell cannot mend the smith without tin."],
    ),
    (
        "Anna>Bartok: What do the smugglers want from the guild? / Bartok>Anna: They want the harbour, but they pay in silver.",
        &["The smugglers want the harbour."],
        &["The guild wants the harbour.", "The smugglers do not want the harbour."],
    ),
    (
        "Anna>Bartok: Did the guards see the thieves? / Bartok>Anna: They fled over the roofs.",
        &[],
        &["The guards fled over the roofs.", "The thieves fled over the roofs."],
    ),
    (
        "Ben>Bartok: The cook stole the spoons. No, that is a lie.",
        &[],
        &["The cook stole the spoons."],
    ),
    (
        "Ben>Bartok: The cook did not steal the spoons. The maid stole the spoons.",
        &["The maid stole the spoons.", "The cook did not steal the spoons."],
        &["The cook stole the spoons.", "The maid did not steal the spoons."],
    ),
    (
        "Ben>Bartok: No. We agreed to wait for the trial.",
        &["The party agreed to wait for the trial.", "Ben agreed to wait for the trial."],
        &["Ben did not agree to wait for the trial.", "Bartok agreed to wait for the trial."],
    ),
    (
        "Ben>Bartok: I lend you my boat, but only if you pay me.",
        &[],
        &["Ben lends Bartok his boat."],
    ),
    (
        "Ben>Bartok: The duke betrayed us.",
        &["The duke betrayed the party."],
        &["The party betrayed the duke.", "The party betrayed.", "The party was betrayed by Ben."],
    ),
    (
        "Ben>Bartok: Let us rob the bank tonight.",
        &[],
        &["Ben robbed the bank.", "The party robbed the bank tonight."],
    ),
    (
        "Ben>Bartok: You told me that the duke was dead.",
        &[],
        &["The duke is dead.", "The duke was dead."],
    ),
    (
        "Bartok>Ben: On the island, where the monks hid the bell.",
        &["The monks hid the bell on the island."],
        &["The bell hid the monks on the island.", "The island hid the bell."],
    ),
    (
        "Bartok>Ben: Der Herzog stahl der Gilde den Becher.",
        &["Der Herzog hat der Gilde den Becher gestohlen."],
        &[
            "Die Gilde hat den Becher gestohlen.",
            "Der Becher hat die Gilde gestohlen.",
            "Die Gilde hat den Herzog gestohlen.",
        ],
    ),
    (
        "Bartok>Ben: Hedda hat sie geschlossen, denn sechs Bergleute sind krank.",
        &["Sechs Bergleute sind krank."],
        &["Hedda ist krank.", "Hedda hat sechs Bergleute geschlossen."],
    ),
    (
        "Ben>Bartok: Lindt gab Korbin in der Schenke einen Brief.",
        &["In der Schenke gab Lindt Korbin einen Brief."],
        &["In der Schenke gab Korbin Lindt einen Brief.", "Gestern gab Korbin Lindt einen Brief."],
    ),
    (
        "Bartok>Ben: Du schuldest mir vierzig Gold.",
        &["Ben schuldet Bartok vierzig Gold."],
        &["Bartok schuldet Ben vierzig Gold.", "Anna schuldet Bartok vierzig Gold."],
    ),
    (
        "Anna>Bartok: Did bandits attack? / Bartok>Anna: They burned two wagons, but they did not take the salt.",
        &["The bandits burned two wagons."],
        &["The bandits did not burn two wagons.", "The bandits took the salt."],
    ),
    (
        "Bartok>Anna: The healer cannot cure them, not without moonwort.",
        &["The healer cannot cure them without moonwort."],
        &["The healer can cure them without moonwort.", "The healer cannot cure them."],
    ),
    (
        "Bartok>Anna: Nan takes no coin. She asks for a lock of hair.",
        &["Nan takes no coin but asks for a lock of hair."],
        &["Nan takes a coin but asks for no lock of hair.", "Nan takes a coin."],
    ),
    (
        "Bartok>Anna: Runa nimmt kein Gold. Sie will eine Locke.",
        &["Runa will kein Gold, sondern eine Locke."],
        &["Runa will Gold, aber keine Locke.", "Runa nimmt Gold."],
    ),
    (
        "Anna>Bartok: Did the monks steal the bell? / Bartok>Anna: No. The bell fell into the river.",
        &["The bell fell into the river."],
        &["The monks stole the bell.", "The bell did not fall into the river."],
    ),
    (
        "Anna>Bartok: Did the monks steal the bell? / Bartok>Anna: They did not. The bell fell into the river.",
        &["The bell fell into the river."],
        &["The monks stole the bell."],
    ),
    (
        "Anna>Bartok: Who robbed the bank? / Bartok>Anna: Find the baker, he was there.",
        &[],
        &["The baker robbed the bank.", "Bartok robbed the bank."],
    ),
    (
        "Anna>Bartok: Who robbed the bank? / Bartok>Anna: I suspect the baker.",
        &[],
        &["The baker robbed the bank."],
    ),
    (
        "Anna>Bartok: Who robbed the bank? / Bartok>Anna: The baker, I think.",
        &[],
        &["The baker robbed the bank."],
    ),
    (
        "Anna>Bartok: Who robbed the bank? / Bartok>Anna: A baker called Tom Reed, at night.",
        &["Tom Reed robbed the bank at night.", "A baker called Tom Reed robbed the bank."],
        &["Anna robbed the bank.", "The bank robbed Tom Reed."],
    ),
    (
        "Anna>Bartok: Wer hat die Bank beraubt? / Bartok>Anna: Entweder der Bäcker oder der Schmied.",
        &[],
        &["Der Bäcker hat die Bank beraubt.", "Der Schmied hat die Bank beraubt."],
    ),
];

#[test]
fn rewordings_are_proven_and_lookalikes_are_not() {
    let people = People::of(&PEOPLE);
    let (mut wrong, mut missed, mut right) = (Vec::<&str>::new(), Vec::<&str>::new(), 0);
    for (lines, proven, invented) in REWORDED {
        let told = told(lines);
        let is_proven = |claim: &str| {
            people.prove(claim, &told) || told.iter().any(|line| people.prove(claim, &[*line]))
        };
        right += proven.len();
        missed.extend(proven.iter().filter(|claim| !is_proven(claim)));
        wrong.extend(invented.iter().filter(|claim| is_proven(claim)));
    }
    println!("not proven: {missed:#?} of {right}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(missed.len() * 10 <= right * 2, "{missed:#?} of {right}");
}

#[test]
fn true_claims_are_proven_and_invented_are_not() {
    let people = People::of(&PEOPLE);
    let (mut wrong, mut missed, mut of) = (Vec::new(), Vec::new(), [0, 0]);
    for (lines, proven, invented) in CLAIMS {
        let told = told(lines);
        // A line may be cited alone.
        let single = |claim: &str| told.iter().any(|line| people.prove(claim, &[*line]));
        for claim in proven {
            of[0] += 1;
            if !people.prove(claim, &told) {
                missed.push((*claim, lines));
            }
        }
        for claim in invented {
            of[1] += 1;
            if people.prove(claim, &told) || single(claim) {
                wrong.push((*claim, lines));
            }
        }
    }
    println!(
        "proven {} of {} true claims, {} of {} false ones",
        of[0] - missed.len(),
        of[0],
        wrong.len(),
        of[1]
    );
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(missed.len() <= 3, "{missed:#?}");
}

#[test]
fn numbers_promises_and_strangers_matter() {
    for text in [
        "Bring me the signet and I pay two hundred gold.",
        "I swear by the river that I come back.",
        "The caravan master is Tamsin, you know.",
        "Es sind zwölf Wachen am Tor.",
        "Ich verspreche es.",
        "That is 7 for the stew.",
    ] {
        assert!(People::of(&PEOPLE).matters(text), "{text}");
    }
    for text in
        ["It rains again.", "Good evening, Bartok.", "Das Wetter ist schlecht.", "I like one."]
    {
        assert!(!People::of(&PEOPLE).matters(text), "{text}");
    }
}
