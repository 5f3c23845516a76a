//! A rule of the game for look-ups.

/// One rule, spell or condition, short enough to be spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub id: String,
    pub name: String,
    /// "5e" (both editions), "5e-2014", "5e-2024", or another system's name.
    pub edition: String,
    pub category: String,
    /// Other names, and phrases players ask with.
    pub aliases: Vec<String>,
    pub text: String,
}

impl Rule {
    /// True if it applies to games of `system`: "5e" matches every fifth-edition rule, an edition
    /// its own and shared rules, any other name only its own.
    pub fn holds_in(&self, system: &str) -> bool {
        let own = self.edition.as_str();
        own == system
            || (own == "5e" && system.starts_with("5e-"))
            || (system == "5e" && own.starts_with("5e-"))
    }
}
