//! Keys of `web:`.

use super::TEXT_OR_TEXTS;
use crate::yaml::{Key, Kind, Shape};

pub static WEB: Shape = Shape {
    title: "The web listener",
    keys: &[
        Key::required(
            "listen",
            Kind::Filled,
            "Address and port, such as 127.0.0.1:4100. Programs need a token: glyphoxa token create.",
        ),
        Key::new(
            "behind_tls",
            Kind::Flag,
            "A proxy in front of it speaks TLS; needed for an address that other machines can \
             reach; default false.",
        ),
        Key::new(
            "hosts",
            TEXT_OR_TEXTS,
            "Names under which it is reached, besides localhost and 127.0.0.1; requests under any \
             other name are refused.",
        ),
        Key::new("mcp", Kind::Shape(&MCP), "Glyphoxa as an MCP server, at /mcp."),
    ],
};

pub static MCP: Shape = Shape {
    title: "Glyphoxa as an MCP server",
    keys: &[
        Key::new(
            "listen",
            Kind::Flag,
            "Offers voice.listen, which returns what consenting players say; the consent notice \
             and the panel then say so; default false.",
        ),
        Key::new(
            "tool_names",
            Kind::Word(&["dots", "underscore"]),
            "Names of its tools: voice.speak (dots, the default), or voice_speak for clients that \
             accept no dots.",
        ),
    ],
};
