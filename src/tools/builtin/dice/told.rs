//! Bonuses announced after the roll.

use serde_json::{Value, json};

use crate::logic::spoken::APART;

/// `rolled`, as the roller returns it, with `bonus` ("+7") added to its d20, else to its last roll.
/// A roll that already ends with this bonus is unchanged. `None`: a comparison, whose total is no
/// sum.
pub fn with_bonus(rolled: &Value, bonus: &str) -> Option<Value> {
    let expression = rolled["expression"].as_str()?;
    let mut parts: Vec<String> = expression.split(APART).map(str::to_owned).collect();
    let at = parts.iter().position(|it| it.contains("d20")).unwrap_or(parts.len() - 1);
    let (is_one, part) = (parts.len() == 1, parts.get_mut(at)?);
    if part.contains(['<', '>', '=']) {
        return None;
    }
    if part.ends_with(bonus) {
        return Some(rolled.clone());
    }
    part.push_str(bonus);
    let sum = sum(bonus)?;
    let mut value = rolled.clone();
    if let Some(total) = rolled["total"].as_i64() {
        value["total"] = json!(total.checked_add(sum)?);
    } else {
        // A repeated roll has several totals.
        let totals = rolled["totals"].as_array()?;
        let (first, last) = if is_one { (0, totals.len()) } else { (at, at + 1) };
        let added = totals.iter().enumerate().map(|(index, total)| {
            let sum = if (first..last).contains(&index) { sum } else { 0 };
            total.as_i64()?.checked_add(sum)
        });
        value["totals"] = json!(added.collect::<Option<Vec<i64>>>()?);
    }
    value["expression"] = json!(parts.join(APART));
    Some(value)
}

/// The roll with its totals: "1d20+7 = 19".
pub fn shown(rolled: &Value) -> String {
    let totals: Vec<String> = match rolled["totals"].as_array() {
        Some(totals) => totals.iter().map(Value::to_string).collect(),
        None => vec![rolled["total"].to_string()],
    };
    let expression = rolled["expression"].as_str().unwrap_or_default();
    format!("{expression} = {}", totals.join(", "))
}

/// Sum of "+7-2".
fn sum(bonus: &str) -> Option<i64> {
    let signed = bonus.replace('-', "+-");
    let mut numbers = signed.split('+').filter(|it| !it.is_empty());
    numbers.try_fold(0_i64, |sum, number| sum.checked_add(number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bonus_told_later_changes_the_total_alone() {
        let rolled = json!({"expression": "1d20", "rolls": [12], "total": 12});
        let told = json!({"expression": "1d20+7-2", "rolls": [12], "total": 17});
        assert_eq!(with_bonus(&rolled, "+7-2"), Some(told.clone()));
        assert_eq!(shown(&told), "1d20+7-2 = 17");
        let rolled = json!({"expression": "1d20+7", "rolls": [12], "total": 19});
        assert_eq!(with_bonus(&rolled, "+7"), Some(rolled.clone()));
        let compared = json!({"expression": "1d20 >= 15", "rolls": [12], "total": 0});
        assert_eq!(with_bonus(&compared, "+7"), None);
    }

    #[test]
    fn bonus_goes_to_the_check_of_several_rolls() {
        let two = json!({"expression": "1d20; 2d6", "rolls": [12, 3, 4], "totals": [12, 7]});
        let told = json!({"expression": "1d20+4; 2d6", "rolls": [12, 3, 4], "totals": [16, 7]});
        assert_eq!(with_bonus(&two, "+4"), Some(told));
        let repeated = json!({"expression": "2#1d6", "rolls": [3, 4], "totals": [3, 4]});
        let told = json!({"expression": "2#1d6-1", "rolls": [3, 4], "totals": [2, 3]});
        assert_eq!(with_bonus(&repeated, "-1"), Some(told));
    }
}
