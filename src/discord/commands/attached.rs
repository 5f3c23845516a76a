//! Files that people attach to commands.
//!
//! Entry function: [`attached`]. **Never**: takes more of a file than any command may.

use std::time::Duration;

use futures::FutureExt;
use serenity::all::Attachment;
use tokio::time::timeout;

use crate::{
    commands::{GivenFile, Refusal},
    import::FILE_MAX,
};

/// Longest wait for a file.
const PATIENCE: Duration = Duration::from_secs(120);

/// An attached file, downloaded on demand.
pub fn attached(file: &Attachment) -> GivenFile {
    let (name, size, url) = (file.filename.clone(), u64::from(file.size), file.url.clone());
    GivenFile::new(name, Some(size), move || {
        let url = url.clone();
        async move {
            let why = match timeout(PATIENCE, content(&url, FILE_MAX)).await {
                Ok(Ok(content)) => return Ok(content),
                Ok(Err(why)) => why,
                Err(_) => format!("nothing came for {} s", PATIENCE.as_secs()),
            };
            Err(Refusal(format!("I can't get the file from Discord: {why} (send it again)")))
        }
        .boxed()
    })
}

/// The content at `url`, of at most `most` bytes, whatever its size was said to be.
async fn content(url: &str, most: u64) -> Result<Vec<u8>, String> {
    // The address lets everyone read the file.
    let told = |error: discord_http::Error| error.without_url().to_string();
    let answer = discord_http::get(url).await.and_then(discord_http::Response::error_for_status);
    let mut answer = answer.map_err(told)?;
    let mut content = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(told)? {
        content.extend_from_slice(&piece);
        if u64::try_from(content.len()).is_ok_and(|size| size > most) {
            return Err("it is larger than Discord said".to_owned());
        }
    }
    Ok(content)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Write},
        net::TcpListener,
        thread,
    };

    use super::*;

    /// Answers one request with `body`, without saying its length.
    fn server(body: &'static [u8]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            // The client may have had enough.
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(body);
        });
        format!("http://{address}/luna.png")
    }

    #[tokio::test]
    async fn download_is_bounded() {
        assert_eq!(content(&server(b"0123456789"), 10).await.unwrap(), b"0123456789");
        let why = content(&server(b"0123456789a"), 10).await.unwrap_err();
        assert_eq!(why, "it is larger than Discord said");
        let why = content("http://127.0.0.1:1/secret", 10).await.unwrap_err();
        assert!(!why.contains("secret"), "{why}");
    }
}
