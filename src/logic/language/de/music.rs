//! German words of wishes about music.

use super::super::lists::MusicTalk;

#[rustfmt::skip]
pub(super) static MUSIC: MusicTalk = MusicTalk {
    nouns: &["musik", "lied", "lieder", "stuck", "song", "songs", "titel", "melodie", "hintergrundmusik"],
    softer: &["leiser", "leise", "runter", "herunter"],
    louder: &["lauter", "hoch", "rauf", "auf"],
    alone: &["leiser", "lauter"],
    turning: &["dreh", "drehe", "stell", "stelle"],
    loud: &["laut"],
    soft: &["leise"],
    next: &[
        "nachste", "nachstes", "nachsten", "nachster", "anderes", "andere", "anderen", "anderer", "wechsel",
        "wechseln", "wechsle", "neues", "neue",
    ],
    stop: &[
        "stopp", "stop", "stoppe", "stoppen", "aus", "beende", "beenden", "ende", "schluss", "genug", "kein",
        "keine", "ausmachen", "ausschalten", "abstellen", "weg", "ruhe", "aufhoren", "verstummen",
    ],
    play: &["spiel", "spiele", "spielt", "spielen", "spielst"],
    performing: &["spiel", "spiele", "spielt", "spielen", "spielst"],
    weary: &["satt", "leid", "langweilig", "langweilt", "reicht"],
    asking: &["was", "welche", "welches", "welcher", "wie"],
    running: &["lauft", "spielt"],
    excess: &["zu"],
    meant: &["das", "es"],
    changing: &["wechsel", "wechseln", "wechsle"],
    choosing: &[
        "irgendwas", "irgendetwas", "am", "im", "zum", "zur", "beim", "vom", "ums", "an", "auf", "in", "aus",
        "passendes", "lieber", "stimmung", "klange", "gerausche",
    ],
    needing: &["brauche", "brauchen", "braucht", "will", "wollen"],
    apart: &["und", "dann", "danach", "ausserdem", "aber"],
    beside: &[
        "mach", "mache", "macht", "machen", "machst", "die", "das", "der", "den", "dem", "ein", "eine", "einen",
        "bisschen", "etwas", "wenig", "bitte", "kannst", "konnt", "konnen", "konnte", "konntest", "konntet",
        "konnten", "du", "ihr", "wir", "ich", "man", "sie", "es", "mal", "doch", "jetzt", "gerade", "gern",
        "gerne", "noch", "viel", "so", "ist", "sind", "dreh", "drehe", "drehen", "stell", "stelle", "stellen",
        "schalte", "schalten", "spiel", "spiele", "spielen", "spielt", "spielst", "mit", "und", "fur", "uns",
        "mir", "wurdest", "wurde", "wurden", "mag", "mochte", "mochten", "will", "wollen", "hatte", "hatten",
        "lass", "lasst", "hier", "da", "denn", "im", "hintergrund", "wieder", "nur", "dann", "hey", "ok", "okay",
        "horen", "heisst", "danke", "sein", "was", "davon", "dies", "dieses", "diese", "hab", "habe",
        "haben", "mich", "lieber", "bin", "oft", "also", "heute", "erst", "einmal", "mehr", "als", "von",
        "kann", "soll", "sollte", "muss", "darf", "ziemlich", "drin", "ganz", "viel", "brauche", "brauchen",
        "braucht",
    ],
};
