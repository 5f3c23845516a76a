//! The files this program carries in itself.

/// Path and content of each, as they lie in the repository.
pub const FILES: &[(&str, &str)] = &[
    ("glyphoxa.yaml", include_str!("../../glyphoxa.yaml")),
    ("campaigns/ravenford.yaml", include_str!("../../campaigns/ravenford.yaml")),
    ("npcs/bartok.yaml", include_str!("../../npcs/bartok.yaml")),
    ("npcs/greymantle.yaml", include_str!("../../npcs/greymantle.yaml")),
    ("npcs/hale.yaml", include_str!("../../npcs/hale.yaml")),
    ("npcs/mira.yaml", include_str!("../../npcs/mira.yaml")),
    ("npcs/vesper.yaml", include_str!("../../npcs/vesper.yaml")),
];
