//! Forms to fill in.
//!
//! Entry functions: [`question_page`], [`text`].

use serenity::all::{CreateActionRow, CreateInputText, CreateModal, InputTextStyle};

use crate::discord::decisions::{Field, LABEL_MAX, Question, short};

/// Longest text of a field, in characters (Discord's limit).
const TEXT_MAX: u16 = 4_000;

pub fn question_page(question: &Question, page: usize, id: String, title: &str) -> CreateModal {
    let rows = question.page(page).enumerate();
    let rows = rows.map(|(index, field)| CreateActionRow::InputText(input(field, index)));
    CreateModal::new(id, short(title, LABEL_MAX)).components(rows.collect())
}

fn input(field: &Field, index: usize) -> CreateInputText {
    let style = if field.is_long() { InputTextStyle::Paragraph } else { InputTextStyle::Short };
    let mut input = CreateInputText::new(style, &field.label, index.to_string())
        .required(field.is_required)
        .max_length(field.longest);
    if !field.hint.is_empty() {
        input = input.placeholder(&field.hint);
    }
    if !field.default.is_empty() && field.default.chars().count() <= usize::from(field.longest) {
        input = input.value(&field.default);
    }
    input
}

pub struct TextForm<'a> {
    /// Id that Discord returns on submission, see [`Action::id`](super::action::Action::id).
    pub id: String,
    pub title: &'a str,
    pub label: &'a str,
    pub field: &'a str,
    pub text: String,
}

/// `None`: the text is too long for a form.
pub fn text(form: TextForm<'_>) -> Option<CreateModal> {
    if form.text.chars().count() > usize::from(TEXT_MAX) {
        return None;
    }
    let input = CreateInputText::new(InputTextStyle::Paragraph, form.label, form.field)
        .value(form.text)
        .max_length(TEXT_MAX);
    let rows = vec![CreateActionRow::InputText(input)];
    Some(CreateModal::new(form.id, form.title).components(rows))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn form_keeps_discords_limits() {
        let long = "x".repeat(500);
        let question = Question::of(&json!({"properties": {"a": {"type": "string",
            "title": long, "description": long, "maxLength": 100_000}}}));
        let modal = question_page(&question.unwrap(), 0, "id".to_owned(), &long);
        let modal = serde_json::to_value(modal).unwrap();
        let length = |it: &Value| it.as_str().unwrap().chars().count();
        assert!(length(&modal["title"]) <= 45);
        let input = &modal["components"][0]["components"][0];
        assert!(length(&input["label"]) <= 45 && length(&input["placeholder"]) <= 100);
        assert_eq!(input["max_length"], 4_000);
    }
}
