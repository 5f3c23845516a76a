//! Requests to addresses that the operator did not choose: those of game masters, other servers and
//! files.
//!
//! [`is_global`] follows IANA's registries of special-purpose addresses, and refuses addresses that
//! embed an IPv4 address (NAT64, 6to4, Teredo, mapped), which routers may send anywhere.
//!
//! Entry types: [`Outbound`], which builds clients for such requests; [`Refused`]. An address is
//! resolved, checked and connected to in one step, so that it cannot change in between. **Never**:
//! follows a redirect by itself.

mod connector;

#[cfg(test)]
mod tests;

pub use connector::{LeadsInside, Outbound, Refused};

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// True if `address` is a single host on the public internet.
pub fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => is_global_v4(it),
        IpAddr::V6(it) => is_global_v6(it),
    }
}

/// True if a name configured by the operator may resolve to `address`. Link-local addresses are
/// excluded: clouds serve credentials there to any caller.
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

/// First byte of the reserved IPv4 range.
const FIRST_RESERVED: u8 = 240;

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        // This network, private, loopback, multicast and reserved.
        (0 | 10 | 127 | 224..=255, ..)
            // Carrier-grade NAT.
            | (100, 64..=127, _)
            // Link-local.
            | (169, 254, _)
            // Private.
            | (172, 16..=31, _)
            | (192, 168, _)
            // Protocol assignments, documentation, 6to4 relays.
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
    // Only 2000::/3 is assigned.
    let is_special = match address.segments() {
        // Protocol assignments: Teredo, benchmarks, host identifiers.
        [0x2001, 0..=0x1ff, ..] => true,
        // Documentation.
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => true,
        // 6to4.
        [0x2002, ..] => true,
        [first, ..] => first & 0xe000 != 0x2000,
    };
    !is_special
}

/// The IPv4 address inside a mapped or NAT64 address.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [head @ .., high, low] = address.segments();
    let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
    matches!(head, [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0])
        .then_some(Ipv4Addr::new(a, b, c, d))
}
