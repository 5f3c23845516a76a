//! Connection settings of a Wyoming service.

use std::time::Duration;

use crate::provider::service::ServiceInfo;

pub const NAME: &str = "wyoming";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// For example "tcp://127.0.0.1:10300".
    pub address: String,
    /// The recogniser's model; `None`: its default.
    pub model: Option<String>,
    /// Longest wait for the beginning of an answer.
    pub first_byte_timeout: Duration,
    pub idle_timeout: Duration,
}

impl Options {
    pub fn info(&self) -> ServiceInfo {
        ServiceInfo::at(self.model.as_deref().unwrap_or("Wyoming"), &self.address)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use tokio::{io::AsyncWriteExt, net::TcpListener, task::JoinHandle};

    use super::*;

    pub const SHORT: Duration = Duration::from_millis(300);

    /// Options for a service at `address`, with patience for a busy machine.
    pub fn options(address: &str) -> Options {
        let patience = Duration::from_secs(60);
        Options {
            address: address.to_owned(),
            model: None,
            first_byte_timeout: patience,
            idle_timeout: patience,
        }
    }

    /// Starts a service that repeats `event`; returns its address and task.
    pub async fn flooding(event: &str) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("tcp://{}", listener.local_addr().unwrap());
        let flood = format!("{event}\n").repeat(64);
        let task = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            while stream.write_all(flood.as_bytes()).await.is_ok() {}
        });
        (address, task)
    }

    #[test]
    fn service_says_where_what_is_said_goes() {
        for (address, shown, is_local) in [
            ("tcp://127.0.0.1:10300", "Wyoming at 127.0.0.1:10300", true),
            ("tcp://whisper:10300", "Wyoming at whisper:10300", true),
            ("tcp://[fd00::7]:10300", "Wyoming at [fd00::7]:10300", true),
            ("tcp://203.0.113.7:10300", "Wyoming at 203.0.113.7:10300", false),
        ] {
            let info = options(address).info();
            assert_eq!((info.to_string().as_str(), info.is_local()), (shown, is_local));
        }
    }
}
