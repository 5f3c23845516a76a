//! Errors of manifest tools and of their calls' arguments. **Never**: show an address or a header's
//! value, which may hold keys.

use crate::tools::url::UrlError;

use super::{mapping::MappingError, template::TemplateError};

/// Reason arguments cannot be sent, worded for the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    #[error("'{0}' is part of the address and needs a value")]
    InAddress(String),
    #[error("'.' and '..' cannot stand in the address")]
    Walks,
    #[error("invalid address: {0}")]
    NoAddress(UrlError),
    #[error("'{0}' is part of a header and needs a value")]
    InHeader(String),
    #[error("a header cannot hold line ends")]
    LineEnd,
    #[error(transparent)]
    Body(#[from] MappingError),
}

/// Reason a header cannot be sent, without its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    #[error(transparent)]
    Pieces(#[from] PiecesError),
    #[error("its value has characters that cannot be sent")]
    Value,
    #[error("it decides where the request goes, so it may not contain an argument")]
    Connection,
    #[error("it is not a valid header name")]
    Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{{{{' does not begin an argument")]
pub struct PiecesError;

/// Name of an argument that is missing, empty, or not a single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingArgument(pub String);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MockError {
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Not JSON although meant to be; holds the beginning.
    #[error("the template does not yield JSON: '{0}'")]
    NoJson(String),
}
