//! The external sender of a DAVE group: proposes who joins and who goes, as Discord's servers do.
//!
//! Entry: [`ExternalMember::add`] and [`ExternalMember::remove`] make the bodies of op 27.
//! Never a member itself: it knows no key of any frame.

use anyhow::{Context as _, ensure};
use openmls::prelude::{
    tls_codec::{Deserialize as _, DeserializeBytes as _, Serialize as _},
    *,
};
use openmls_basic_credential::SignatureKeyPair;
use openmls_rust_crypto::OpenMlsRustCrypto;

/// The suite of DAVE version 1.
const SUITE: Ciphersuite = Ciphersuite::MLS_128_DHKEMP256_AES128GCM_SHA256_P256;

/// Signs the proposals of one group.
pub(super) struct ExternalMember {
    /// Signs.
    signer: SignatureKeyPair,
    /// Its claimed identity; Discord's own number means nothing to clients.
    credential: Credential,
    /// Checks key packages.
    provider: OpenMlsRustCrypto,
    /// The channel's id.
    group: GroupId,
}

impl ExternalMember {
    /// For the group of a channel.
    pub(super) fn new(channel: u64) -> anyhow::Result<Self> {
        let signer = SignatureKeyPair::new(SUITE.signature_algorithm())
            .map_err(|error| anyhow::anyhow!("making a signature key: {error:?}"))?;
        Ok(Self {
            signer,
            credential: BasicCredential::new(0_u64.to_be_bytes().to_vec()).into(),
            provider: OpenMlsRustCrypto::default(),
            group: GroupId::from_slice(&channel.to_be_bytes()),
        })
    }

    /// The body of op 25: key and name of this sender.
    pub(super) fn package(&self) -> anyhow::Result<Vec<u8>> {
        let key = self.signer.public().into();
        Ok(ExternalSender::new(key, self.credential.clone()).tls_serialize_detached()?)
    }

    /// Proposes the owner of a key package, which must be `user`.
    pub(super) fn add(&self, user: u64, key_package: &[u8], epoch: u64) -> anyhow::Result<Vec<u8>> {
        let package = KeyPackageIn::tls_deserialize_exact(key_package)
            .context("reading the key package")?
            .validate(self.provider.crypto(), ProtocolVersion::Mls10)
            .context("checking the key package")?;
        let owner = package.leaf_node().credential().serialized_content();
        ensure!(owner == user.to_be_bytes(), "the key package is not made out to user {user}");
        ensure!(package.ciphersuite() == SUITE, "the key package is of another cipher suite");
        wrapped(ExternalProposal::new_add::<OpenMlsRustCrypto>(
            package,
            self.group.clone(),
            epoch.into(),
            &self.signer,
            SenderExtensionIndex::new(0),
        )?)
    }

    /// Proposes that the member at `leaf` goes.
    pub(super) fn remove(&self, leaf: u32, epoch: u64) -> anyhow::Result<Vec<u8>> {
        wrapped(ExternalProposal::new_remove::<OpenMlsRustCrypto>(
            LeafNodeIndex::new(leaf),
            self.group.clone(),
            epoch.into(),
            &self.signer,
            SenderExtensionIndex::new(0),
        )?)
    }

    /// Splits the body of op 28 into commit and welcome (empty without one), and says for which
    /// epoch of this group the commit is.
    pub(super) fn commit<'a>(&self, body: &'a [u8]) -> anyhow::Result<(&'a [u8], &'a [u8], u64)> {
        let (message, welcome) =
            MlsMessageIn::tls_deserialize_bytes(body).context("reading the commit")?;
        let (commit, _) = body
            .split_at_checked(body.len() - welcome.len())
            .context("the commit is longer than its message")?;
        let message = message.try_into_protocol_message().context("op 28 holds no commit")?;
        ensure!(*message.group_id() == self.group, "the commit is for another group");
        ensure!(message.content_type() == ContentType::Commit, "op 28 holds no commit");
        if !welcome.is_empty() {
            Welcome::tls_deserialize_exact_bytes(welcome).context("reading the welcome")?;
        }
        Ok((commit, welcome, message.epoch().as_u64()))
    }
}

/// A vector of one message.
fn wrapped(message: MlsMessageOut) -> anyhow::Result<Vec<u8>> {
    Ok(VLBytes::new(message.tls_serialize_detached()?).tls_serialize_detached()?)
}
