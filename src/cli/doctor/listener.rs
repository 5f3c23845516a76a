//! The listener for programs outside: its port, who reaches it, and their tokens.
//!
//! Entry functions: [`port`], [`tokens`]. **Never**: uses or shows a token.

use std::{
    io::{self, ErrorKind},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use super::finding::Finding;
use crate::{
    cli::counted,
    domain::{AccessRole, Timestamp},
    memory::KeptToken,
    web::WebOptions,
};

/// Longest wait for the program that has the port.
const ANSWERING: Duration = Duration::from_secs(2);
/// Most bytes read of its answer; the header that tells is among the first.
const ANSWER_MAX: u64 = 4096;
/// Header of our listener's answer to a request without a token, in lower case.
const OURS: &str = "\r\nwww-authenticate: bearer realm=\"glyphoxa\"";

/// Finds whether the listener can start, and the machines that would reach it.
pub async fn port(options: &WebOptions) -> Finding {
    let (what, at) = ("listener", options.listen);
    let (reached, listening) = (reached(options), listening(options));
    match TcpListener::bind(at).await {
        Ok(_) => Finding::new(what, Ok(format!("{at} is free; {reached}; {listening}"))),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            if is_ours(at).await {
                let found = format!("{at} is in use by a running Glyphoxa; {reached}; {listening}");
                return Finding::unchecked(what, found);
            }
            let taken = format!(
                "{at} is in use by another program (end it, or choose another port in web.listen)"
            );
            Finding::new(what, Err(taken))
        }
        Err(error) => {
            let fix = "set web.listen to an address of this machine, with a port from 1024 up";
            Finding::new(what, Err(format!("can't listen on {at}: {error} ({fix})")))
        }
    }
}

const fn reached(options: &WebOptions) -> &'static str {
    if options.is_exposed() || options.behind_tls {
        "other machines reach it through your proxy"
    } else {
        "only programs of this machine reach it"
    }
}

const fn listening(options: &WebOptions) -> &'static str {
    if options.mcp.listen {
        "voice.listen is on: programs may receive the players' words"
    } else {
        "voice.listen is off"
    }
}

/// Tokens that let programs in at `now`; the listener needs one where other machines reach it.
pub fn tokens(
    options: &WebOptions,
    stored: Result<Vec<KeptToken>, String>,
    now: Timestamp,
) -> Finding {
    let what = "tokens";
    let stored = match stored {
        Ok(stored) => stored,
        Err(why) => return Finding::new(what, Err(format!("can't read the tokens: {why}"))),
    };
    let valid: Vec<&KeptToken> = stored.iter().filter(|token| token.is_valid(now)).collect();
    if valid.is_empty() && !options.is_exposed() {
        let none = "no valid token, so no program gets in (make one: glyphoxa mcp entry)";
        return Finding::unchecked(what, none.to_owned());
    }
    if valid.is_empty() {
        let none = format!(
            "no valid token, without which the listener doesn't start on {} (make one: glyphoxa \
             token create --role player --guild ID)",
            options.listen
        );
        return Finding::new(what, Err(none));
    }
    let masters = valid.iter().filter(|token| token.role == AccessRole::Dm).count();
    let endless = valid.iter().filter(|token| token.ends.is_none()).count();
    let ended = match stored.len() - valid.len() {
        0 => String::new(),
        ended => format!(", and {ended} that ended"),
    };
    let listed = format!(
        "{} ({masters} with the rights of a game master, {endless} without an end){ended}; \
         glyphoxa token list shows them",
        counted(valid.len(), "valid token")
    );
    Finding::new(what, Ok(listed))
}

/// True if the program at `at` asks for a token of ours.
async fn is_ours(at: SocketAddr) -> bool {
    let answer = async {
        let mut socket = TcpStream::connect(from_here(at)).await?;
        let port = at.port();
        let request =
            format!("GET /mcp HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n");
        socket.write_all(request.as_bytes()).await?;
        let mut answer = Vec::new();
        socket.take(ANSWER_MAX).read_to_end(&mut answer).await?;
        Ok::<_, io::Error>(answer)
    };
    let Ok(Ok(answer)) = timeout(ANSWERING, answer).await else { return false };
    let answer = String::from_utf8_lossy(&answer).to_ascii_lowercase();
    answer.starts_with("http/1.1 401") && answer.contains(OURS)
}

/// Address under which this machine reaches a listener on `at`.
const fn from_here(at: SocketAddr) -> SocketAddr {
    let ip = match at.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, at.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{domain::Owner, web::McpOptions};

    fn options(listen: SocketAddr, behind_tls: bool) -> WebOptions {
        let mcp = McpOptions { listen: true, underscores: false };
        WebOptions { listen, behind_tls, hosts: Vec::new(), mcp }
    }

    fn token(role: AccessRole, ends: Option<Timestamp>) -> KeptToken {
        let (id, hash) = (format!("{role:?} {ends:?}"), "0".repeat(64));
        KeptToken { id, hash, owner: Owner::Local, role, tools: None, made: 1, ends }
    }

    /// A counterpart on a port of this machine that answers each request with `answer`.
    async fn answering(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    asked.push(socket.read_u8().await.unwrap());
                }
                socket.write_all(answer.as_bytes()).await.unwrap();
            }
        });
        at
    }

    #[tokio::test]
    async fn free_port_is_found_and_who_reaches_it() {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let found = port(&options(free, false)).await;
        assert!(found.ok && found.checked, "{}", found.detail);
        let wanted = "is free; only programs of this machine reach it; voice.listen is on";
        assert!(found.detail.contains(wanted), "{}", found.detail);
        let found = port(&options(free, true)).await;
        assert!(found.detail.contains("other machines reach it through"), "{}", found.detail);
    }

    #[tokio::test]
    async fn taken_port_is_told_from_a_running_bot() {
        let ours =
            "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"glyphoxa\"\r\n\r\n";
        let found = port(&options(answering(ours).await, false)).await;
        assert!(found.ok && !found.checked, "{}", found.detail);
        assert!(found.detail.contains("in use by a running Glyphoxa"), "{}", found.detail);
        let other = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer realm=\"x\"\r\n\r\n";
        let other = port(&options(answering(other).await, false)).await;
        assert!(!other.ok && other.detail.contains("by another program"), "{}", other.detail);
    }

    #[test]
    fn tokens_are_counted_by_what_they_are_worth() {
        let (near, far) = ("127.0.0.1:4100".parse().unwrap(), "0.0.0.0:4100".parse().unwrap());
        let past = token(AccessRole::Dm, Some(5));
        let found = tokens(&options(near, false), Ok(vec![past.clone()]), 5);
        assert!(found.ok && !found.checked, "{}", found.detail);
        let found = tokens(&options(far, true), Ok(vec![past.clone()]), 5);
        assert!(!found.ok && found.detail.contains("doesn't start on 0.0.0.0:4100"));
        let all = vec![past, token(AccessRole::Dm, None), token(AccessRole::Player, Some(6))];
        let found = tokens(&options(far, true), Ok(all), 5);
        let wanted = "2 valid tokens (1 with the rights of a game master, 1 without an end), and 1 \
                      that ended; glyphoxa token list shows them";
        assert_eq!((found.ok, &*found.detail), (true, wanted));
        let unread = tokens(&options(near, false), Err("the memory is damaged".to_owned()), 5);
        assert!(!unread.ok && unread.detail.contains("can't read the tokens: the memory"));
    }
}
