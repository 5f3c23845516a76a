//! Files embedded in this program.

/// Path in the repository, and content.
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
    ("tools/tavern_rumour.yaml", include_str!("../../tools/tavern_rumour.yaml")),
    ("workflows/the-evening-begins.yaml", include_str!("../../workflows/the-evening-begins.yaml")),
];

/// Folder of the built-in random tables.
pub const TABLES: &str = "assets/tables";

/// Rules of the fifth edition: path and content.
pub const RULES: &[(&str, &str)] = &[
    ("assets/rules/5e/checks.yaml", include_str!("../../assets/rules/5e/checks.yaml")),
    ("assets/rules/5e/combat.yaml", include_str!("../../assets/rules/5e/combat.yaml")),
    ("assets/rules/5e/conditions.yaml", include_str!("../../assets/rules/5e/conditions.yaml")),
    ("assets/rules/5e/damage.yaml", include_str!("../../assets/rules/5e/damage.yaml")),
    ("assets/rules/5e/downtime.yaml", include_str!("../../assets/rules/5e/downtime.yaml")),
    ("assets/rules/5e/environment.yaml", include_str!("../../assets/rules/5e/environment.yaml")),
    ("assets/rules/5e/equipment.yaml", include_str!("../../assets/rules/5e/equipment.yaml")),
    ("assets/rules/5e/movement.yaml", include_str!("../../assets/rules/5e/movement.yaml")),
    ("assets/rules/5e/skills.yaml", include_str!("../../assets/rules/5e/skills.yaml")),
    ("assets/rules/5e/spellcasting.yaml", include_str!("../../assets/rules/5e/spellcasting.yaml")),
    ("assets/rules/5e/spells-1.yaml", include_str!("../../assets/rules/5e/spells-1.yaml")),
    ("assets/rules/5e/spells-2.yaml", include_str!("../../assets/rules/5e/spells-2.yaml")),
    ("assets/rules/5e/spells-3.yaml", include_str!("../../assets/rules/5e/spells-3.yaml")),
    ("assets/rules/5e/spells-4-5.yaml", include_str!("../../assets/rules/5e/spells-4-5.yaml")),
    ("assets/rules/5e/spells-6-9.yaml", include_str!("../../assets/rules/5e/spells-6-9.yaml")),
    (
        "assets/rules/5e/spells-cantrips.yaml",
        include_str!("../../assets/rules/5e/spells-cantrips.yaml"),
    ),
    ("assets/rules/5e/weapons.yaml", include_str!("../../assets/rules/5e/weapons.yaml")),
];
