//! Address of a PostgreSQL server, and the encryption of its connection.
//!
//! Entry type: [`Address`]. **Never**: prints a password, or connects to another machine in plain
//! text unless the address says so.

use std::{fmt, net::IpAddr, str::FromStr, time::Duration};

use tokio_postgres::{
    Config,
    config::{Host, SslMode},
};

/// Longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(5);
/// Time without TCP acknowledgements after which a server counts as gone.
const UNCONFIRMED: Duration = Duration::from_secs(15);

/// A checked `postgres://` address; prints without its password.
#[derive(Clone, PartialEq, Eq)]
pub struct Address(Box<Config>);

impl Address {
    pub(super) fn config(&self) -> &Config {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn with_options(&self, options: &str) -> Self {
        let mut config = self.0.clone();
        config.options(options);
        Self(config)
    }

    pub fn elsewhere(&self) -> Option<String> {
        let is_near = self.0.get_hosts().iter().all(is_here);
        let addresses = self.0.get_hostaddrs();
        let far: Vec<String> =
            addresses.iter().filter(|it| !it.is_loopback()).map(IpAddr::to_string).collect();
        match far.is_empty() {
            true => (!is_near).then(|| self.to_string()),
            false => Some(format!("{self} at {}", far.join(", "))),
        }
    }

    pub(super) fn is_encrypted(&self) -> bool {
        self.0.get_ssl_mode() != SslMode::Disable
    }
}

/// Problem of an address, without any part that may be secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    #[error("it begins with postgres://")]
    Scheme,
    #[error("a host after the slashes")]
    NoHost,
    /// The driver's error.
    #[error("{0}")]
    Unreadable(String),
}

impl FromStr for Address {
    type Err = AddressError;

    /// Reads `postgres://user:password@host:port/database?sslmode=...`. Without `sslmode`,
    /// connections to other machines are encrypted and local ones are not; certificates are always
    /// checked. Errors contain no part of the address that may be secret.
    fn from_str(text: &str) -> Result<Self, AddressError> {
        if !["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
            return Err(AddressError::Scheme);
        }
        let known = ["sslmode=verify-full", "sslmode=verify-ca"];
        let text =
            known.iter().fold(text.to_owned(), |text, it| text.replace(it, "sslmode=require"));
        let mut config = Config::from_str(&text).map_err(|error| {
            let cause = std::error::Error::source(&error);
            AddressError::Unreadable(
                cause.map_or("it cannot be read".to_owned(), ToString::to_string),
            )
        })?;
        if config.get_hosts().is_empty() {
            return Err(AddressError::NoHost);
        }
        if !text.contains("sslmode=") {
            let here = config.get_hosts().iter().all(is_here);
            config.ssl_mode(if here { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("glyphoxa");
        }
        config.tcp_user_timeout(UNCONFIRMED);
        Ok(Self(Box::new(config)))
    }
}

/// True if the connection stays on this machine, safe from eavesdropping.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) if name == "localhost" => true,
        Host::Tcp(name) => name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        for (index, host) in self.0.get_hosts().iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                #[cfg(unix)]
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            let ports = self.0.get_ports();
            if let Some(port) = ports.get(index).or(ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.0.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> SslMode {
        text.parse::<Address>().unwrap().0.get_ssl_mode()
    }

    #[test]
    fn remote_hosts_use_tls_unless_disabled() {
        assert_eq!(mode("postgres://bot@db.example/table"), SslMode::Require);
        assert_eq!(mode("postgres://bot@db/table?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://bot@db/table?sslmode=prefer"), SslMode::Prefer);
        assert_eq!(mode("postgres://bot@db/table?sslmode=verify-full"), SslMode::Require);
        for here in ["localhost", "127.0.0.1:5433", "[::1]", "%2Fvar%2Frun%2Fpostgresql"] {
            assert_eq!(mode(&format!("postgres://bot@{here}/table")), SslMode::Disable, "{here}");
        }
    }

    #[test]
    fn no_password_is_printed() {
        let address: Address = "postgresql://bot:hush@db:6432/table".parse().unwrap();
        assert_eq!(address.to_string(), "postgres://db:6432/table");
        assert_eq!(format!("{address:?}"), "Address(postgres://db:6432/table)");
    }

    #[test]
    fn address_errors_contain_no_secrets() {
        for (wrong, said) in [
            ("mysql://bot:hush@db/table", "it begins with postgres://"),
            ("postgres:///table", "a host after the slashes"),
            ("postgres://bot:hush@db:many/table", "invalid value for option `port`"),
            ("postgres://bot:hush@db/table?sslmode=hush", "invalid value for option `sslmode`"),
            ("postgres://bot:hush@db/table?colour=red", "unknown option `colour`"),
        ] {
            assert_eq!(wrong.parse::<Address>().unwrap_err().to_string(), said);
        }
    }
}
