//! Our identity at an authorization server, and the grant type of tokens.

use reqwest::Url;
use secrecy::SecretString;

use crate::{provider::Outbound, tools::url::UrlError};

#[derive(Clone, Debug, Default)]
pub struct Client {
    /// `None`: dynamic registration.
    pub id: Option<String>,
    /// `None`: a public client.
    pub proof: Option<Proof>,
    /// HTTPS URL of our client metadata document, preferred to registration where supported.
    pub metadata_url: Option<String>,
    pub scopes: Vec<String>,
    /// Authorization server that may receive our proof.
    pub authority: Authority,
}

/// The authorization server we are registered with, as configured. A server that names another one
/// gets no proof of ours.
#[derive(Clone, Debug, Default)]
pub struct Authority {
    /// Its issuer; metadata is accepted from there only.
    pub issuer: Option<Url>,
    /// Overrides the metadata's token endpoint.
    pub token_url: Option<Url>,
}

impl Authority {
    /// The authorization server with issuer `address`.
    pub fn issuer(address: &str) -> Result<Self, UrlError> {
        Ok(Self { issuer: Some(Url::parse(address)?), token_url: None })
    }

    /// True if neither address is configured.
    pub const fn is_unknown(&self) -> bool {
        self.issuer.is_none() && self.token_url.is_none()
    }
}

#[derive(Clone, Debug)]
pub struct Resource {
    pub address: Url,
    /// The operator configured the address, so it may be on a private network.
    pub may_be_inside: bool,
}

impl Resource {
    /// Addresses that may be contacted for a token; for a local server, all of this machine.
    pub fn outbound(&self, authority: &Authority) -> Outbound {
        let mut outbound = Outbound::public();
        if self.may_be_inside {
            outbound = outbound.and(&self.address).and_neighbours_of(&self.address);
        }
        let named = [&authority.issuer, &authority.token_url].into_iter().flatten();
        named.fold(outbound, |outbound, url| outbound.and(url))
    }
}

#[derive(Clone, Debug)]
pub enum Proof {
    Secret(SecretString),
    /// A PEM private key (PKCS#8, PKCS#1 or SEC1; RSA, P-256 or P-384), for signed assertions.
    Key(SecretString),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// Client credentials, without consent.
    Program,
    /// Authorization code with PKCE.
    Person,
    /// Client credentials if the authorization server offers them, else a person.
    Offered,
}
