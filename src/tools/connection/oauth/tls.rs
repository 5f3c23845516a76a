//! The process's TLS.

use rustls::crypto::ring;

/// Makes ring the process's TLS, which rmcp's own connections need.
pub fn use_ring() {
    // An error only says that there is one already.
    let _ = ring::default_provider().install_default();
}
