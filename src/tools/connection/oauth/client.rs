//! How we identify ourselves to an authorization server, and how a token is granted.

use reqwest::Url;
use secrecy::SecretString;

/// How we identify ourselves to an authorization server.
#[derive(Clone, Debug, Default)]
pub struct Client {
    /// Registered beforehand; `None`: we register ourselves.
    pub id: Option<String>,
    /// How we prove to be it; `None`: we are a public client.
    pub proof: Option<Proof>,
    /// HTTPS address of our client metadata document, taken instead of a registration where the
    /// authorization server supports it.
    pub metadata_url: Option<String>,
    /// The scopes requested; empty: those the server advertises.
    pub scopes: Vec<String>,
    /// Where tokens come from; `None`: found by discovery.
    pub token_url: Option<Url>,
}

/// What proves who a client is.
#[derive(Clone, Debug)]
pub enum Proof {
    /// A shared secret.
    Secret(SecretString),
    /// A private key, PEM (PKCS#8, PKCS#1 or SEC1; RSA, P-256 or P-384), for signed assertions.
    Key(SecretString),
}

/// How a token is granted, which decides who consents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// No consent: the program is the client (client credentials).
    Program,
    /// A person (authorization code with PKCE).
    Person,
    /// The program where the authorization server offers that, else a person.
    Offered,
}
