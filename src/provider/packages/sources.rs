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

/// The Python Package Index.
const PYPI: &str = "https://pypi.org/simple";
/// Address of its files. Both are written here, so a network that leads their names to a mirror of
/// its own is taken at its word, as for what the operator has written down; TLS still tells who
/// answers.
const PYPI_FILES: &str = "https://files.pythonhosted.org";
/// The registry of npm.
const NPM: &str = "https://registry.npmjs.org";
/// Address where most publishers of weights keep them.
const HUGGING_FACE: &str = "https://huggingface.co";

/// An address of a registry or of a package that the operator has written down, with a login where one
/// is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryAddress {
    /// Without the login.
    pub(super) url: Url,
    login: Option<(String, Secret)>,
}

/// The registries that are asked.
#[derive(Clone, Debug)]
pub struct Registries {
    /// Python's.
    pub index: RegistryAddress,
    /// That of npm.
    pub npm: RegistryAddress,
    /// Address of publishers' files.
    pub hugging_face: RegistryAddress,
}

/// Sources of packages: registries, and addresses that stand in for their packages.
#[derive(Clone, Debug)]
pub struct PackageSources {
    pub(super) registries: Registries,
    /// By the name of the set, in the order of its packages.
    replaced: BTreeMap<String, Vec<RegistryAddress>>,
}

impl RegistryAddress {
    /// Reads `http(s)://[user[:password]@]host[:port]/path`.
    ///
    /// # Errors
    /// The first problem of the address, in a few words.
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

    /// True if it carries a login.
    pub fn has_login(&self) -> bool {
        self.login.is_some()
    }

    /// The address of something below this one.
    pub(super) fn below(&self, path: &str) -> Url {
        let mut url = self.url.clone();
        url.set_query(None);
        url.set_path(&format!("{}/{path}", self.url.path().trim_end_matches('/')));
        url
    }
}

impl Registries {
    /// The public ones in place of those that are `None`.
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
    /// These registries, and `replaced` for single sets.
    pub fn new(registries: Registries, replaced: BTreeMap<String, Vec<RegistryAddress>>) -> Self {
        Self { registries, replaced }
    }

    /// True if the operator has named the addresses of `set`: nobody else is asked for it.
    pub(super) fn is_replaced(&self, set: &str) -> bool {
        self.replaced.contains_key(set)
    }

    /// The address that stands in for a package of `set`.
    pub(super) fn replaced(&self, set: &str, package: usize) -> Option<&Url> {
        self.replaced.get(set)?.get(package).map(|address| &address.url)
    }

    /// `outbound`, widened to all registries and to the addresses of `set`'s packages, which count as
    /// written down by the operator.
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

    /// Our name and password at the origin of `url`: only where the operator has written them down.
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

/// An address that is written in the program.
fn public(text: &str) -> RegistryAddress {
    #[expect(clippy::expect_used, reason = "a test reads them")]
    RegistryAddress::parse(text).expect("an address")
}
