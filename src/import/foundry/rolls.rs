//! Rolls within texts as words.

/// A roll within `[[…]]`: "/r 1d6", "1d6", "lookup @name", "/check dex dc=15". `looked_up` tells the value
/// at a path.
pub fn rolled(inner: &str, looked_up: &dyn Fn(&str) -> String) -> String {
    let roll = inner.split('#').next().unwrap_or_default().trim();
    if let Some(path) = roll.strip_prefix("lookup ") {
        return looked_up(path.trim().split(' ').next().unwrap_or_default());
    }
    let Some(command) = roll.strip_prefix('/') else { return formula(roll, looked_up) };
    let (name, rest) = command.split_once(' ').unwrap_or((command, ""));
    match name {
        "check" | "concentration" | "skill" | "tool" => test(rest, "check"),
        "save" => test(rest, "save"),
        "damage" => format!("{} damage", values(rest)),
        "attack" => format!("{} to hit", values(rest)),
        _ => formula(rest, looked_up),
    }
}

/// A check of pf2e: "type:will|dc:20|basic", "will|dc:20".
pub fn check(inner: &str) -> String {
    let mut parts = inner.split('|');
    let kind = parts.next().unwrap_or_default();
    let kind = kind.strip_prefix("type:").unwrap_or(kind).trim();
    match parts.find_map(|part| part.trim().strip_prefix("dc:")).and_then(number) {
        Some(dc) => format!("DC {dc} {kind} check"),
        None => format!("{kind} check"),
    }
}

/// Damage of pf2e: `(2d6+3)[fire]`, `2d6[cold],1d4[fire]`.
pub fn damage(inner: &str) -> String {
    let inner = inner.split('|').next().unwrap_or_default();
    format!("{} damage", spaced(inner).replace(',', " and "))
}

/// An area of pf2e: "type:cone|distance:30", "cone|distance:30".
pub fn template(inner: &str) -> String {
    let mut parts = inner.split('|').map(str::trim);
    let shape = parts.next().unwrap_or_default();
    let shape = shape.strip_prefix("type:").unwrap_or(shape);
    match parts.find_map(|part| part.strip_prefix("distance:")).and_then(number) {
        Some(feet) => format!("{feet}-foot {shape}"),
        None => shape.to_owned(),
    }
}

fn number(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// A formula with the values of its paths.
fn formula(roll: &str, looked_up: &dyn Fn(&str) -> String) -> String {
    let told = spaced(roll);
    let parts = told
        .split(' ')
        .map(|part| if part.starts_with('@') { looked_up(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join(" ")
}

/// `2d6[fire]` as "2d6 fire"; parentheses are left out.
fn spaced(roll: &str) -> String {
    let plain = roll.replace('[', " ").replace(['(', ')', ']'], "");
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Values of "2d6 type=fire average": those without a name, and of names.
fn values(rest: &str) -> String {
    let parts = rest.split_whitespace().filter(|part| *part != "average");
    let values = parts.filter_map(|part| match part.split_once('=') {
        Some(("formula" | "type", value)) => Some(value),
        Some(_) => None,
        None => Some(part),
    });
    values.collect::<Vec<_>>().join(" ")
}

/// A check against a difficulty: "dex 15", "ability=dex dc=15".
fn test(rest: &str, what: &str) -> String {
    let (mut dc, mut of) = (None, Vec::new());
    for part in rest.split_whitespace() {
        match part.split_once('=') {
            Some(("dc", value)) => dc = number(value),
            Some(("ability" | "skill" | "tool", value)) => of.push(value),
            Some(_) => {}
            None => match number(part) {
                Some(value) => dc = Some(value),
                None => of.push(part),
            },
        }
    }
    let dc = dc.map(|dc| format!("DC {dc}"));
    let parts = dc.iter().map(String::as_str).chain(of).chain([what]);
    parts.collect::<Vec<_>>().join(" ")
}
