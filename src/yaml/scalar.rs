//! Scalars and their meaning in YAML 1.2's core schema.

use super::quoted;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scalar {
    /// Escapes resolved.
    pub text: String,
    /// Quoted, a block scalar or tagged `!!str`: always text.
    pub quoted: bool,
    /// The text before variables were inserted; shown in messages, so that no secret is printed.
    pub written: Option<String>,
}

impl Scalar {
    /// True for an empty scalar, `~` or `null`, neither quoted nor from a variable.
    pub fn is_null(&self) -> bool {
        !self.quoted
            && self.written.is_none()
            && matches!(self.text.as_str(), "" | "~" | "null" | "Null" | "NULL")
    }

    /// `yes` and `no` are text.
    pub fn flag(&self) -> Option<bool> {
        match self.text.as_str() {
            "true" | "True" | "TRUE" if !self.quoted => Some(true),
            "false" | "False" | "FALSE" if !self.quoted => Some(false),
            _ => None,
        }
    }

    /// Decimal, `0x` or `0o`.
    pub fn whole(&self) -> Option<i64> {
        if self.quoted {
            return None;
        }
        if let Some(digits) = self.text.strip_prefix("0x") {
            return unsigned(digits, 16);
        }
        if let Some(digits) = self.text.strip_prefix("0o") {
            return unsigned(digits, 8);
        }
        self.text.parse().ok()
    }

    /// Infinity and NaN are text.
    pub fn number(&self) -> Option<f64> {
        let looks = !self.quoted && self.text.chars().any(|char| char.is_ascii_digit());
        let plain = |char: char| char.is_ascii_digit() || "+-.eE".contains(char);
        if looks && self.text.chars().all(plain) {
            return self.text.parse().ok().filter(|number: &f64| number.is_finite());
        }
        // Integers of a configuration are far below 2^53.
        self.whole().and_then(|whole| i32::try_from(whole).ok()).map(f64::from)
    }

    pub fn shown(&self) -> String {
        quoted(self.written.as_deref().unwrap_or(&self.text))
    }
}

fn unsigned(digits: &str, radix: u32) -> Option<i64> {
    if digits.starts_with(['+', '-']) { None } else { i64::from_str_radix(digits, radix).ok() }
}
