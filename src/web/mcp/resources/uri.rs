//! Addresses of resources. Entry type: [`ResourceUri`].

use std::fmt;

use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, PercentEncode, percent_decode_str, utf8_percent_encode,
};

use crate::campaign::Holder;

/// Longest address that is read, in bytes.
const URI_MAX: usize = 1_000;
/// Escaped in a part of an address: everything but RFC 3986's unreserved characters.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Target of an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ResourceUri {
    /// By the session's id.
    Transcript(String),
    /// By the session's id.
    Recap(String),
    /// By the entity's id in the campaign that is played.
    Entity(String),
    /// By the NPC's name.
    Npc(String),
}

/// A kind of resource, as clients are offered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceKind {
    pub template: &'static str,
    pub name: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The tool with these data; a token without it does not see these resources.
    pub tool: &'static str,
}

pub static KINDS: [ResourceKind; 4] = [
    ResourceKind {
        template: "glyphoxa://session/{session}/transcript",
        name: "transcript",
        title: "Transcript of a session",
        description: "What was said in a play session, line by line",
        tool: "session.transcript",
    },
    ResourceKind {
        template: "glyphoxa://session/{session}/recap",
        name: "recap",
        title: "Recap of a session",
        description: "What happened in a play session, in a few sentences",
        tool: "session.recap",
    },
    ResourceKind {
        template: "glyphoxa://entity/{id}",
        name: "entity",
        title: "Entity of the world",
        description: "A person, place or thing of the campaign, with its relations",
        tool: "entity.get",
    },
    ResourceKind {
        template: "glyphoxa://npc/{name}",
        name: "npc",
        title: "NPC",
        description: "An NPC that Glyphoxa plays",
        tool: "npc.list",
    },
];

/// Kinds that `holder` may read.
pub fn kinds_of(holder: &Holder) -> impl Iterator<Item = &'static ResourceKind> {
    KINDS.iter().filter(move |kind| holder.has_tool(kind.tool))
}

impl ResourceUri {
    /// `None`: an address of something else.
    pub fn read(uri: &str) -> Option<Self> {
        if uri.len() > URI_MAX {
            return None;
        }
        let parts: Vec<&str> = uri.strip_prefix("glyphoxa://")?.split('/').collect();
        match parts.as_slice() {
            ["session", id, "transcript"] => part(id).map(Self::Transcript),
            ["session", id, "recap"] => part(id).map(Self::Recap),
            ["entity", id] => part(id).map(Self::Entity),
            ["npc", name] => part(name).map(Self::Npc),
            _ => None,
        }
    }

    pub const fn kind(&self) -> &'static ResourceKind {
        let [transcript, recap, entity, npc] = &KINDS;
        match self {
            Self::Transcript(_) => transcript,
            Self::Recap(_) => recap,
            Self::Entity(_) => entity,
            Self::Npc(_) => npc,
        }
    }
}

impl fmt::Display for ResourceUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transcript(id) => write!(f, "glyphoxa://session/{}/transcript", escaped(id)),
            Self::Recap(id) => write!(f, "glyphoxa://session/{}/recap", escaped(id)),
            Self::Entity(id) => write!(f, "glyphoxa://entity/{}", escaped(id)),
            Self::Npc(name) => write!(f, "glyphoxa://npc/{}", escaped(name)),
        }
    }
}

fn escaped(part: &str) -> PercentEncode<'_> {
    utf8_percent_encode(part, ESCAPED)
}

/// A part of an address, unescaped.
fn part(escaped: &str) -> Option<String> {
    let text = percent_decode_str(escaped).decode_utf8().ok()?;
    (!text.is_empty()).then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn foreign_addresses_lead_nowhere() {
        for uri in [
            "",
            "file:///etc/passwd",
            "glyphoxa://session/a/b/transcript",
            "glyphoxa://session//transcript",
            "glyphoxa://session/a/transcript/",
            "glyphoxa://entity/",
            "glyphoxa://npc/%ff",
            "glyphoxa://entity/../npc/Bartok",
        ] {
            assert_eq!(ResourceUri::read(uri), None, "{uri}");
        }
        assert_eq!(ResourceUri::read(&format!("glyphoxa://npc/{}", "a".repeat(URI_MAX))), None);
    }

    proptest! {
        #[test]
        fn addresses_are_read_back(name in ".{1,40}") {
            for uri in [
                ResourceUri::Transcript(name.clone()),
                ResourceUri::Recap(name.clone()),
                ResourceUri::Entity(name.clone()),
                ResourceUri::Npc(name.clone()),
            ] {
                prop_assert_eq!(ResourceUri::read(&uri.to_string()), Some(uri));
            }
        }
    }
}
