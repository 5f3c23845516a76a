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
    (
        "assets/tables/random_encounter.yaml",
        include_str!("../../assets/tables/random_encounter.yaml"),
    ),
    ("assets/tables/treasure_hoard.yaml", include_str!("../../assets/tables/treasure_hoard.yaml")),
    ("assets/tables/wild_magic.yaml", include_str!("../../assets/tables/wild_magic.yaml")),
];

/// Where the built-in random tables are among them.
pub const TABLES: &str = "assets/tables";
