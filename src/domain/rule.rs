//! A rule of the game as it is looked up.

/// One rule, spell or condition, short enough to be spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What names it everywhere: kind and name in lower case ("condition-blinded").
    pub id: String,
    /// Its name ("Blinded").
    pub name: String,
    /// The rules it belongs to: "5e" (both editions), "5e-2014", "5e-2024", or another system's
    /// name.
    pub edition: String,
    /// What kind of rule it is ("condition", "spell", "combat").
    pub category: String,
    /// What players call it, and how they ask for it.
    pub aliases: Vec<String>,
    /// The rule itself.
    pub text: String,
}

impl Rule {
    /// Whether it holds where `system` is played: "5e" takes every fifth-edition rule, an edition
    /// its own and those of both, any other name only its own.
    pub fn holds_in(&self, system: &str) -> bool {
        let own = self.edition.as_str();
        own == system
            || (own == "5e" && system.starts_with("5e-"))
            || (system == "5e" && own.starts_with("5e-"))
    }
}
