//! Location of a service: this machine, a private network, or somewhere that may cost money.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    /// No trailing slash.
    pub text: String,
    pub private: bool,
    pub encrypted: bool,
}

/// Name endings used on private networks only.
const PRIVATE_ENDINGS: [&str; 6] =
    [".localhost", ".local", ".lan", ".internal", ".home.arpa", ".test"];

/// Parses `scheme://host[:port][/path]`; the error is a short phrase.
pub fn base_url(text: &str) -> Result<BaseUrl, &'static str> {
    let (rest, encrypted) = match (text.strip_prefix("https://"), text.strip_prefix("http://")) {
        (Some(rest), _) => (rest, true),
        (_, Some(rest)) => (rest, false),
        _ => return Err("it begins with http:// or https://"),
    };
    let (host, _) = host_and_port(text, rest)?;
    let text = text.trim_end_matches('/').to_owned();
    Ok(BaseUrl { text, private: is_private(host), encrypted })
}

/// Parses `tcp://host:port`; the error is a short phrase.
pub fn tcp_address(text: &str) -> Result<BaseUrl, &'static str> {
    let text = text.strip_suffix('/').unwrap_or(text);
    let rest = text.strip_prefix("tcp://").ok_or("it begins with tcp://")?;
    if rest.contains('/') {
        return Err("only host and port after tcp://");
    }
    match host_and_port(text, rest)? {
        (_, None) => Err("a port after the host, such as tcp://127.0.0.1:10300"),
        (host, Some(_)) => {
            let private = is_private(host);
            Ok(BaseUrl { text: text.to_owned(), private, encrypted: false })
        }
    }
}

fn host_and_port<'a>(
    text: &str,
    rest: &'a str,
) -> Result<(&'a str, Option<&'a str>), &'static str> {
    if text.contains(|char: char| char.is_whitespace() || char.is_control()) {
        return Err("no blanks");
    }
    if text.contains(['?', '#', '\\']) {
        return Err("only host, port and path, without ?, # and \\");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err("no user name in it; put the key under api_key");
    }
    let (host, port) = split_port(authority)?;
    if host.is_empty() {
        return Err("a host after the slashes");
    }
    if port.is_some_and(|port| port.parse::<u16>().is_err()) {
        return Err("a port from 1 to 65535 after the colon");
    }
    plainly_spelled(host)?;
    Ok((host, port))
}

fn split_port(authority: &str) -> Result<(&str, Option<&str>), &'static str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (host, after) = rest.split_once(']').ok_or("an IPv6 address ends with ]")?;
        if host.parse::<Ipv6Addr>().is_err() {
            return Err("an IPv6 address between [ and ]");
        }
        let port = after.strip_prefix(':');
        if port.is_none() && !after.is_empty() {
            return Err("nothing but a port after the ]");
        }
        return Ok((host, port));
    }
    Ok(authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))))
}

/// Refuses a host that clients may normalise to another one: full-width digits, percent signs,
/// octal and short forms of addresses, a trailing dot.
fn plainly_spelled(host: &str) -> Result<(), &'static str> {
    if host.parse::<Ipv6Addr>().is_ok() {
        return Ok(());
    }
    if !host.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return Err("a host of ASCII letters, digits, - and . (other letters as xn--…)");
    }
    if host.split('.').any(str::is_empty) {
        return Err("a host without a dot at its end, or two in a row");
    }
    let last = host.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
    let is_number = last.starts_with("0x") || last.chars().all(|c| c.is_ascii_digit());
    if is_number && host.parse::<Ipv4Addr>().is_err() {
        return Err("an IPv4 address as four plain numbers");
    }
    Ok(())
}

fn is_private(host: &str) -> bool {
    match host.parse::<IpAddr>() {
        Ok(address) => is_private_address(address.to_canonical()),
        Err(_) => is_private_name(host),
    }
}

/// True if `name` belongs to a private network. A name without a dot is local or a container's.
pub fn is_private_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    !name.contains('.') || PRIVATE_ENDINGS.iter().any(|end| name.ends_with(end))
}

fn is_private_address(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => {
            it.is_loopback() || it.is_private() || it.is_link_local() || it.is_unspecified()
        }
        IpAddr::V6(it) => {
            it.is_loopback()
                || it.is_unique_local()
                || it.is_unicast_link_local()
                || it.is_unspecified()
        }
    }
}
