//! Properties of a chain of brains, for callers that do not care which one answers.

use crate::provider::{Chain, ChatModel};

impl Chain<dyn ChatModel> {
    /// The service's name if there is one, else all names.
    pub fn called(&self) -> String {
        let all = self.iter();
        if self.is_alone() {
            return all.map(|it| it.service().name().to_owned()).collect();
        }
        all.map(|it| &**it.name()).collect::<Vec<_>>().join(", else ")
    }

    pub fn costs(&self) -> bool {
        self.iter().any(|it| it.service().priced_as().is_some())
    }

    /// True if one of them follows prompts.
    pub fn reads_prompts(&self) -> bool {
        self.iter().any(|it| it.service().reads_prompts())
    }

    /// True if each of them continues a begun answer.
    pub fn continues(&self) -> bool {
        self.iter().all(|it| it.service().continues())
    }

    pub fn thinks(&self) -> u32 {
        self.iter().map(|it| it.service().thinks()).max().unwrap_or_default()
    }

    /// Smallest context window; `None`: unlimited.
    pub fn window(&self) -> Option<u32> {
        self.iter().filter_map(|it| it.service().window()).min()
    }
}
