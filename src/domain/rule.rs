//! A rule of the game as it is looked up.

/// One rule, spell or condition, short enough to be spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Its id: kind and name in lower case ("condition-blinded").
    pub id: String,
    /// Its name as printed ("Blinded").
    pub name: String,
    /// The rules it belongs to: "5e" (both editions), "5e-2014", "5e-2024", or another system's
    /// name.
    pub edition: String,
    /// Kind of rule ("condition", "spell", "combat").
    pub category: String,
    /// Other names players use, and phrases they ask with.
    pub aliases: Vec<String>,
    /// The rule itself.
    pub text: String,
}

impl Rule {
    /// True if it applies to games of `system`: "5e" matches every fifth-edition rule, an
    /// edition its own rules and those of both, any other name only its own.
    pub fn holds_in(&self, system: &str) -> bool {
        let own = self.edition.as_str();
        own == system
            || (own == "5e" && system.starts_with("5e-"))
            || (system == "5e" && own.starts_with("5e-"))
    }
}
