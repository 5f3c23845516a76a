//! German words for addressing a person, and for speaking of one.

use super::super::lists::Turning;

#[rustfmt::skip]
pub(super) static TURNING: Turning = Turning {
    direct: &[
        "frage", "frag", "fragt", "fragen", "bitte", "bittet", "bitten", "sage", "sag", "sagt",
        "sagen", "rufe", "ruf", "ruft", "rufen", "spreche", "spricht", "sprechen", "grusse",
        "grusst", "begrusse", "begrusst", "erzahle", "erzahlt", "erzahlen", "flustere", "flustert",
        "flustern", "zeige", "zeigt", "zeigen", "gebe", "gibt", "geben", "reiche", "reicht",
        "danke", "dankt", "warne", "warnt", "winke", "winkt", "antworte", "antwortet", "biete",
        "bietet", "erklare", "erklart", "erklaren", "melde", "meldet", "melden", "berichte",
        "berichtet", "berichten", "befehle", "befiehlt", "verrate", "verspreche", "verspricht",
        "schenke", "schenkt", "uberreiche", "uberreicht", "ubergebe", "beschreibe", "beschreibt",
        "widerspreche", "widerspricht", "drohe", "droht", "nicke", "nickt", "proste", "prostet",
        "raune", "raunt", "zahle", "bezahle", "bezahlt", "befrage", "befragt", "verhore", "verhort",
        "beruhige", "beruhigt", "klopfe", "klopft", "tippe", "tippt", "umarme", "umarmt", "nahere",
        "nahert", "stelle", "stellt", "lachle", "lachelt",
    ],
    towards_somebody: &[
        "rede", "redet", "reden", "red", "spreche", "spricht", "sprechen", "sprich", "wende",
        "wendet", "wenden", "drehe", "dreht", "drehen", "sage", "sagt", "sagen", "sag", "flustere",
        "flustert", "flustern", "rufe", "ruft", "rufen", "gehe", "geh", "geht", "gehen", "trete",
        "tritt", "beuge", "beugt", "winke", "winkt", "nicke", "nickt", "unterhalte", "unterhalt",
        "plaudere", "plaudert", "laufe", "lauft", "setze", "setzt", "setzen", "stelle", "stellt",
        "lehne", "lehnt", "komme", "kommt", "kommen", "kehre", "kehrt", "eile", "eilt", "schlendere",
        "schreie", "schreit", "brulle", "brullt", "raune", "raunt", "murmle", "murmelt", "lachle",
        "lachelt", "knie", "verhandle", "verhandelt", "verhandeln", "scherze",
    ],
    towards: &["zu", "zum", "zur", "mit", "an", "nach"],
    with_their_own: &[
        "bedanke bei", "bedankt bei", "bedanken bei", "bedanke beim", "bedankt beim", "bedanken beim",
        "entschuldige bei", "entschuldigt bei", "entschuldige beim", "entschuldigt beim",
        "erkundige bei", "erkundigt bei", "erkundige beim", "erkundigt beim", "beschwere bei",
        "beschwert bei", "beschwere beim", "beschwert beim", "melde bei", "melden bei", "melde beim",
        "melden beim", "bestelle bei", "bestellen bei", "bestelle beim", "bestellen beim",
        "verabschiede von", "verabschiedet von", "verabschieden von", "verabschiede vom",
        "verabschiedet vom", "verabschieden vom",
    ],
    particles: &[
        "leise", "hoflich", "kurz", "jetzt", "erstmal", "mal", "noch", "mich", "uns", "schnell",
        "einfach", "nun", "gleich", "freundlich",
    ],
    adverbs: &[
        "eigentlich", "denn", "gerade", "nur", "bloss", "jetzt", "wohl", "uberhaupt", "schon", "noch",
        "heute", "eben",
    ],
    doers: &["ich", "wir"],
    characters: &["charakter", "figur", "held", "heldin"],
    lead_in: &["jetzt", "erst", "kurz"],
    going_on: &["und", "dann", "also", "nun", "jetzt"],
    allowing: &["lass mich", "lasst mich"],
    wishes: &[
        "will", "wollen", "mochte", "mochten", "wurde", "wurden", "werde", "werden", "muss",
        "mussen", "gehe", "gehen",
    ],
    behind: &[
        "fragen", "reden", "sprechen", "ansprechen", "bitten", "rufen", "sagen", "begrussen",
        "erzahlen", "zeigen", "geben", "unterhalten", "erklaren", "melden", "berichten", "danken",
        "antworten", "warnen", "bezahlen", "plaudern", "verhandeln", "befragen", "wenden",
    ],
    before_name: &[
        "der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "unser",
        "unsere", "unseren", "unserem", "unserer", "dieser", "diese", "diesen", "diesem", "jener", "jene", "jenen", "jenem",
    ],
    spoils: &[
        "nicht", "nie", "niemals", "kein", "keinen", "gestern", "vorhin", "neulich", "letzte",
        "sollte", "sollten", "konnte", "konnten", "vielleicht", "wenn", "falls", "ob", "dass", "als",
        "niemand", "ohne", "statt", "uber", "morgen", "spater", "keine", "keinem", "keiner",
        "nachdem", "bevor", "damals", "fruher", "hatte", "hatten", "weder",
    ],
    spoils_behind: &["nicht", "nie", "niemals"],
    fellows: &[
        "anderen", "andern", "gruppe", "gefahrten", "freunden", "freunde", "mir", "spielleiter",
        "spielleiterin", "sl", "leute", "truppe", "meister", "meisterin", "mitspieler", "mitspielern",
        "kameraden", "begleiter", "begleitern", "meinen gefahrten", "meinen freunden",
        "meinen kameraden", "meinen begleitern", "meinen leuten", "meiner gruppe", "meiner truppe",
    ],
    asides: &["ausserhalb der rolle", "ausserhalb des spiels", "offgame", "outtime"],
    whispers: &["flustere", "flustern", "flusternd", "tuschle", "tuscheln", "raune"],
    mentions: &[
        "ein", "eine", "einen", "einem", "einer",
        "zu", "zum", "zur", "an", "am", "nach", "bei", "beim", "fur", "furs", "hinter", "hinterm",
        "neben", "vor", "vorm", "vom", "auf", "durch", "ohne", "aus", "wegen", "trotz", "seit",
        "unter", "zwischen", "statt", "ausser", "gegenuber", "als", "wie", "frage", "fragt",
        "fragte", "fragen", "gefragt",
    ],
    acted_on: &[
        "traue", "vertraue", "sah", "sehe", "kenne", "kannte", "mag", "hasse", "traf", "treffe",
        "brauche", "glaube", "folge", "verfolge", "beobachte", "belausche", "suche", "finde", "fand",
        "liebe", "vermisse", "furchte", "meide", "verdachtige", "verstehe", "erkenne", "bewundere",
    ],
    listeners: &["du", "dich", "dir", "ihr", "euch", "sie"],
    addressed: &["du", "dich", "dir", "euch"],
    denying: &["nicht", "nich"],
    denying_doers: &[],
    meaning: &[
        "meine", "mein", "meinte", "meinen", "meinten", "rede", "red", "redete", "reden", "geredet",
        "spreche",
        "sprach", "sprechen", "gesprochen", "frage", "fragte", "gefragt", "angesprochen",
    ],
    meant: &["gemeint"],
    beside_meaning: &[
        "habe", "hab", "haben", "hatte", "bist", "warst", "seid", "sind", "wart", "mit", "zu", "an",
        "aber", "damit", "doch", "wollte", "wollten",
    ],
    dismissing: &[
        "jetzt nicht", "nicht jetzt", "noch nicht", "spater", "gleich", "moment", "moment mal", "einen moment",
        "einen augenblick", "augenblick", "warte", "warte mal", "warte kurz", "vergiss es", "schon gut", "genug",
        "lass gut sein", "ruhe", "still", "sei still", "entschuldige uns", "danke", "vielen dank", "danke dir",
    ],
    told_of: &[
        "hat", "war", "sagt", "sagte", "meint", "meinte", "sah", "wirkt", "lugt", "erzahlte",
        "erzahlt", "wollte", "ging", "kam", "wusste", "fragt", "fragte", "sieht", "schaut", "weiss",
        "will", "hatte", "denkt", "glaubt", "kennt", "scheint", "wohnt", "verkauft", "braucht",
        "hasst", "liebt", "redet", "spricht", "gab", "nahm", "fand", "trinkt", "lacht", "schweigt",
        "verschweigt",
    ],
    being: &[
        "ist", "sind", "wird", "werden", "kann", "konnen", "muss", "mussen", "soll", "sollen", "geht",
        "kommt", "macht", "hilft", "lebt", "steht", "sitzt", "liegt", "heisst", "bleibt", "arbeitet",
    ],
    asked: &[
        "das", "der", "die", "den", "dem", "dein", "deine", "deinen", "es", "er", "sie", "da", "hier",
        "noch", "schon", "ich", "wir", "man", "ihr", "euer", "eure", "jemand", "alles", "etwas", "was",
        "so", "mir", "uns", "dir", "heute", "denn",
    ],
};
