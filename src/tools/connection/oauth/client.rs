//! Our identity at an authorization server, and the grant type of tokens.

use reqwest::Url;
use secrecy::SecretString;

use crate::{provider::Outbound, tools::url::UrlError};

/// Our identity at an authorization server.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Registered beforehand; `None`: we register ourselves.
    pub id: Option<String>,
    /// Proof of our identity; `None`: we are a public client.
    pub proof: Option<Proof>,
    /// HTTPS address of our client metadata document, taken instead of a registration where the
    /// authorization server supports it.
    pub metadata_url: Option<String>,
    /// The scopes requested; empty: those the server advertises.
    pub scopes: Vec<String>,
    /// Authorization server that may receive our proof.
    pub authority: Authority,
}

/// The authorization server we are registered with, as the operator has named it. One that the server names
/// instead gets no proof of ours.
#[derive(Clone, Debug, Default)]
pub struct Authority {
    /// Its issuer, whose metadata is taken from nowhere else.
    pub issuer: Option<Url>,
    /// Token endpoint, whatever the metadata says.
    pub token_url: Option<Url>,
}

impl Authority {
    /// The one whose issuer is at `address`.
    ///
    /// # Errors
    /// It is not a URL.
    pub fn issuer(address: &str) -> Result<Self, UrlError> {
        Ok(Self { issuer: Some(Url::parse(address)?), token_url: None })
    }

    /// True if there is none.
    pub const fn is_unknown(&self) -> bool {
        self.issuer.is_none() && self.token_url.is_none()
    }
}

/// Server that a token is for.
#[derive(Clone, Debug)]
pub struct Resource {
    /// Address of the server.
    pub address: Url,
    /// The operator has written the address down, so that it may be on a private network.
    pub may_be_inside: bool,
}

impl Resource {
    /// Addresses we may contact to get a token for it; if it is on this machine, the rest of this
    /// machine too.
    pub fn outbound(&self, authority: &Authority) -> Outbound {
        let mut outbound = Outbound::public();
        if self.may_be_inside {
            outbound = outbound.and(&self.address).and_neighbours_of(&self.address);
        }
        let named = [&authority.issuer, &authority.token_url].into_iter().flatten();
        named.fold(outbound, |outbound, url| outbound.and(url))
    }
}

/// Proof of a client's identity.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A shared secret.
    Secret(SecretString),
    /// A private key, PEM (PKCS#8, PKCS#1 or SEC1; RSA, P-256 or P-384), for signed assertions.
    Key(SecretString),
}

/// Grant type of tokens; it decides who consents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// No consent: the program is the client (client credentials).
    Program,
    /// A person (authorization code with PKCE).
    Person,
    /// The program where the authorization server offers that, else a person.
    Offered,
}
