//! A set of weights, from its packages to its folder.
//!
//! Entry function: [`get_weights`].

use std::path::PathBuf;

use reqwest::Url;
use tokio::task::spawn_blocking;

use super::{
    error::{Difference, GetError},
    index::{self, listed, normalised},
    sources::{PackageSources, RegistryAddress},
    transfer::{Poured, Transfer, other, shown},
};
use crate::{
    provider::outbound::Outbound,
    weights::{Digest, Download, InstallError, Installing, Origin, Package, WeightSet},
};

/// How often a download that breaks is gone on with, as long as each time brings something.
const TRIES: usize = 20;

/// What is to be got.
pub struct Getting<'a> {
    /// Where packages come from.
    pub sources: &'a PackageSources,
    /// The files, and the packages that they are in.
    pub set: &'a WeightSet,
    /// Below which folder.
    pub folder: PathBuf,
}

/// How far it is, in bytes of all packages of the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// So much has come.
    Came(u64),
    /// The connection broke, or the server began anew; so much is there, and it goes on.
    Again(u64),
    /// Everything has come.
    Unpacking,
}

/// Downloads the packages of a set, going on with what is there of them, and puts its files in place.
/// Cancelling keeps what has come and puts nothing in place.
///
/// # Errors
/// Nothing was put in place.
pub async fn get_weights(
    getting: &Getting<'_>,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<PathBuf, GetError> {
    let set = getting.set;
    let installing = Installing::begin(&getting.folder)?;
    installing.room_for(set)?;
    let outbound = getting.sources.beside(Outbound::public(), set);
    let transfer = Transfer { sources: getting.sources, outbound };
    let mut before = 0;
    for (number, package) in set.packages.iter().enumerate() {
        let mut download = installing.download(package)?;
        told(Step::Came(before + download.have()));
        if download.missing() > 0 || hash_of(&download).await? != package.sha256 {
            let url = address(&transfer, set, number).await?;
            let mut told = |step| {
                told(match step {
                    Step::Came(have) => Step::Came(before + have),
                    Step::Again(have) => Step::Again(before + have),
                    Step::Unpacking => step,
                });
            };
            fetch(&transfer, &url, package, &mut download, &mut told).await?;
        }
        before += package.bytes;
    }
    told(Step::Unpacking);
    let set = set.clone();
    in_background(move || installing.install(&set)).await
}

/// Where the package of this number is.
async fn address(transfer: &Transfer<'_>, set: &WeightSet, number: usize) -> Result<Url, GetError> {
    let sources = transfer.sources;
    if let Some(url) = sources.replaced(&set.name, number) {
        return Ok(url.clone());
    }
    let Some(package) = set.packages.get(number) else { return Ok(sources.index.url.clone()) };
    match &package.origin {
        Origin::Address(address) => {
            let read = RegistryAddress::parse(address).map(|it| it.url);
            read.map_err(|why| GetError::List { address: address.clone(), why })
        }
        Origin::Npm { name, .. } => Ok(sources.npm.below(&format!("{name}/-/{}", package.file))),
        Origin::PyPi { name, .. } => {
            let page = sources.index.below(&format!("{}/", normalised(name)));
            let (text, page) = transfer.text(&page, index::ACCEPTED).await?;
            let address = shown(&page);
            let found = listed(&text, &page, &package.file);
            let found = found.map_err(|why| GetError::List { address: address.clone(), why })?;
            let file = package.file.clone();
            let found = found.ok_or(GetError::NotListed { address, file })?;
            match found.sha256 {
                Some(is) if !is.eq_ignore_ascii_case(package.sha256.as_str()) => {
                    Err(other(package, Difference::Listed(is)))
                }
                _ => Ok(found.url),
            }
        }
    }
}

/// Downloads until all is there and is what it should be.
async fn fetch(
    transfer: &Transfer<'_>,
    url: &Url,
    package: &Package,
    download: &mut Download,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<(), GetError> {
    // Whether anything of it came from elsewhere than the request that ended it.
    let mut is_pieced = download.have() > 0;
    for _ in 0..TRIES {
        let before = download.have();
        let mut came = |have| told(Step::Came(have));
        match transfer.pour(url, package, download, &mut came).await? {
            Poured::Whole => {
                let is = hash_of(download).await?;
                if is == package.sha256 {
                    return Ok(());
                }
                download.restart()?;
                if !is_pieced {
                    return Err(other(package, Difference::Hash(is, package.sha256.clone())));
                }
                is_pieced = false;
            }
            Poured::Anew => is_pieced = false,
            Poured::Cut(why) => {
                is_pieced = true;
                if download.have() <= before {
                    return Err(cut(package, download, why));
                }
            }
        }
        told(Step::Again(download.have()));
    }
    Err(cut(package, download, format!("it broke {TRIES} times")))
}

fn cut(package: &Package, download: &Download, why: String) -> GetError {
    let (file, have, bytes) = (package.file.clone(), download.have(), package.bytes);
    GetError::Cut { file, have, bytes, why }
}

async fn hash_of(download: &Download) -> Result<Digest, GetError> {
    let path = download.path().to_owned();
    in_background(move || Download::digest_at(&path)).await
}

/// Work that reads and writes much.
async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, GetError> {
    Ok(spawn_blocking(work).await??)
}
