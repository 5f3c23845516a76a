//! Kinds of IP addresses.
//!
//! Entry function: [`is_global`]. The ranges are those of IANA's registries of special-purpose
//! addresses, which take in more than is reserved: an address that carries an IPv4 address inside
//! (NAT64, 6to4, Teredo, mapped) leads wherever a router of the network takes it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True if `address` is one host of the public internet.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => is_global_v4(it),
        IpAddr::V6(it) => is_global_v6(it),
    }
}

/// True if `address` may be that of a name that the operator has written down: anything but ranges
/// in which no service of theirs can be. Link-local addresses are those of a cloud's own services,
/// which give keys to any caller.
pub fn is_somebodys(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            it.octets()[0] != 0
                && !it.is_link_local()
                && !it.is_multicast()
                && it.octets()[0] < FIRST_RESERVED
        }
        IpAddr::V6(it) => match inside(it) {
            Some(inside) => is_somebodys(IpAddr::V4(inside)),
            None => !it.is_unspecified() && !it.is_unicast_link_local() && !it.is_multicast(),
        },
    }
}

/// First byte of the IPv4 addresses that nobody was given.
const FIRST_RESERVED: u8 = 240;

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        // This network, private, loopback, multicast and reserved.
        (0 | 10 | 127 | 224..=255, ..)
            // Shared by a provider's customers.
            | (100, 64..=127, _)
            // Link-local.
            | (169, 254, _)
            // Private.
            | (172, 16..=31, _)
            | (192, 168, _)
            // The protocol's own, documentation, relays of 6to4.
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            // Benchmarks.
            | (198, 18 | 19, _)
            // Documentation.
            | (198, 51, 100)
            | (203, 0, 113)
    );
    !is_special
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    // Only 2000::/3 has been given to anybody.
    let is_special = match address.segments() {
        // The protocol's own: Teredo, benchmarks, identifiers of hosts.
        [0x2001, 0..=0x1ff, ..] => true,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => true,
        // 6to4.
        [0x2002, ..] => true,
        [first, ..] => first & 0xe000 != 0x2000,
    };
    !is_special
}

/// The IPv4 address that a mapped or a NAT64 address stands for.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [head @ .., high, low] = address.segments();
    let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
    matches!(head, [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0])
        .then_some(Ipv4Addr::new(a, b, c, d))
}
