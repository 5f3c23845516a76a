//! Keys of `cluster:`.

use crate::yaml::{Key, Kind, Shape};

pub static CLUSTER: Shape = Shape {
    title: "Several processes",
    keys: &[
        Key::new(
            "shards",
            Kind::Whole { min: 1, max: 10_000 },
            "Parts of Discord's gateway that the processes divide among themselves, the same \
             number for all of them; Discord requires one for each 2,500 servers; default 1.",
        ),
        Key::new(
            "capacity",
            Kind::Whole { min: 1, max: 100_000 },
            "Most sessions at once in this process; further servers are passed to a process with \
             room. Default: no limit.",
        ),
        Key::new(
            "lease_s",
            Kind::Whole { min: 2, max: 60 },
            "Seconds after which a process that does not reach memory.url falls silent, and others \
             take over; each renews its leases four times as often; default 6.",
        ),
    ],
};
