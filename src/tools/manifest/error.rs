//! Errors of a tool written down in a file, and of the arguments of one call of it.
//!
//! **Never**: shows an address or the value of a header, which may hold keys.

use crate::tools::url::UrlError;

use super::{mapping::MappingError, template::TemplateError};

/// Reason arguments cannot be sent; its text is for the model that chose them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The address needs this argument.
    #[error("'{0}' is part of the address and needs a value")]
    InAddress(String),
    /// An argument would be a step through the server's folders.
    #[error("'.' and '..' cannot stand in the address")]
    Walks,
    /// Filled in, the address is not a URL.
    #[error("invalid address: {0}")]
    NoAddress(UrlError),
    /// A header needs this argument.
    #[error("'{0}' is part of a header and needs a value")]
    InHeader(String),
    /// An argument would end the header it stands in.
    #[error("a header cannot hold line ends")]
    LineEnd,
    /// They cannot be brought into the form of the body.
    #[error(transparent)]
    Body(#[from] MappingError),
}

/// Reason a header cannot be sent, without its value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Two braces that begin no argument.
    #[error(transparent)]
    Pieces(#[from] PiecesError),
    /// A value with characters no header may have.
    #[error("its value has characters that cannot be sent")]
    Value,
    /// It decides where the request goes.
    #[error("it decides where the request goes, so it may not contain an argument")]
    Connection,
    /// A name with characters no header's name may have.
    #[error("it is not a valid header name")]
    Name,
}

/// A doubled brace that begins no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{{{{' does not begin an argument")]
pub struct PiecesError;

/// The name of an argument that is missing, empty, or no single value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingArgument(pub String);

/// Reason a canned answer cannot be given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MockError {
    /// The template cannot be filled.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// It was meant to yield JSON; the beginning of what it yields.
    #[error("the template does not yield JSON: '{0}'")]
    NoJson(String),
}
