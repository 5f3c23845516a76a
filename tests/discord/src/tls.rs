//! A certificate authority that lives as long as a test.
//!
//! Entry type: [`Certificates`]. Never: touching the system's trust store.

use anyhow::Context as _;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use std::{io::Write as _, path::Path, sync::Arc};
use tokio_rustls::TlsAcceptor;

/// The names the leaf certificate is good for.
const NAMES: [&str; 5] =
    ["127.0.0.1", "localhost", "discord.com", "gateway.discord.gg", "cdn.discordapp.com"];

/// An authority's PEM file and a server's side of TLS signed by it.
pub struct Certificates {
    file: tempfile::NamedTempFile,
    acceptor: TlsAcceptor,
}

impl Certificates {
    /// Makes keys and certificates.
    ///
    /// # Errors
    /// Fails if they cannot be made, or the file cannot be written.
    pub fn new() -> anyhow::Result<Self> {
        let authority_key = KeyPair::generate()?;
        let mut params = CertificateParams::new(vec![])?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, "loopback Discord authority");
        let authority = params.self_signed(&authority_key)?;
        let key = KeyPair::generate()?;
        let leaf = CertificateParams::new(NAMES.map(String::from).to_vec())?.signed_by(
            &key,
            &authority,
            &authority_key,
        )?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::try_from(key.serialize_der())
            .map_err(|error| anyhow::anyhow!("reading the new key back: {error}"))?;
        let config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], key)?;
        let mut file =
            tempfile::Builder::new().prefix("discord-loopback-").suffix(".pem").tempfile()?;
        file.write_all(authority.pem().as_bytes()).context("writing the authority's file")?;
        Ok(Self { file, acceptor: TlsAcceptor::from(Arc::new(config)) })
    }

    /// The authority's certificate, PEM.
    #[must_use]
    pub fn authority(&self) -> &Path {
        self.file.path()
    }

    /// The server's side.
    #[must_use]
    pub fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.clone()
    }
}
