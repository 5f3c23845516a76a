//! Properties of several brains together, for callers that do not care which of them answers.

use crate::provider::{Chain, ChatModel};

impl Chain<dyn ChatModel> {
    /// Name for people: the service of a single one, else the names of all.
    pub fn called(&self) -> String {
        let all = self.iter();
        if self.is_alone() {
            return all.map(|it| it.service().name().to_owned()).collect();
        }
        all.map(|it| &**it.name()).collect::<Vec<_>>().join(", else ")
    }

    /// True if an answer may cost something.
    pub fn costs(&self) -> bool {
        self.iter().any(|it| it.service().priced_as().is_some())
    }

    /// True if one of them does what any prompt says.
    pub fn reads_prompts(&self) -> bool {
        self.iter().any(|it| it.service().reads_prompts())
    }

    /// True if each of them continues an answer that was begun.
    pub fn continues(&self) -> bool {
        self.iter().all(|it| it.service().continues())
    }

    /// Tokens that the one which thinks most may think with beside its answer.
    pub fn thinks(&self) -> u32 {
        self.iter().map(|it| it.service().thinks()).max().unwrap_or_default()
    }

    /// Tokens of a request and its answer together that each of them has room for; `None`: nothing is
    /// counted.
    pub fn window(&self) -> Option<u32> {
        self.iter().filter_map(|it| it.service().window()).min()
    }
}
