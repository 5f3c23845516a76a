//! Questions to the game master's assistant. Entry functions: [`assist`], [`print_answer`].

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{
    super::{DONE, FAILED, Failure, complain},
    print::Printer,
};
use crate::{
    campaign::{Answer, Assistant},
    engine,
    tools::ToolHost,
};

/// Interval between polls for late results.
const POLL: Duration = Duration::from_millis(20);

/// Gets an answer to every question, and waits for its tools.
pub async fn assist(
    assistant: &Assistant,
    questions: &[String],
    host: &ToolHost,
    printer: &Printer,
) -> Result<u8, Failure> {
    let mut status = DONE;
    for question in questions {
        let answer = assistant.ask(question).await;
        status = if answer.is_ok() { DONE } else { FAILED };
        print_answer(printer, assistant.name(), question, answer)?;
    }
    while host.has_late_calls() {
        sleep(POLL).await;
    }
    Ok(status)
}

/// Prints an answer, or why there is none.
pub fn print_answer(
    printer: &Printer,
    assistant: &str,
    question: &str,
    answer: Result<Answer, engine::Failure>,
) -> anyhow::Result<()> {
    let answer = match answer {
        Ok(answer) => answer,
        Err(why) => {
            complain(&format!("{assistant} cannot answer: {why}"));
            return Ok(());
        }
    };
    if printer.is_json() {
        let Answer { text, tools } = answer;
        return printer.object(&json!({
            "assistant": assistant, "question": question, "text": text, "tools": tools,
        }));
    }
    for tool in &answer.tools {
        printer.tool(tool)?;
    }
    printer.line_of(assistant, &answer.text)
}
