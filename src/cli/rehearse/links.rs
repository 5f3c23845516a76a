//! One-time links by which browsers get in. Entry type: [`Invitations`].

use std::{
    future::pending,
    io::{self, IsTerminal, Write},
};

use tokio::io::{AsyncBufReadExt, BufReader};

use super::super::{complain, stdout};
use crate::web::Rehearsal;

pub struct Invitations {
    pub doors: Rehearsal,
    /// Address of the page.
    pub base: String,
}

impl Invitations {
    /// Prints a link, and opens a browser with it if it `opens` one.
    pub fn open(&self, opens: bool) -> io::Result<()> {
        let link = self.print()?;
        // Scripts want the link alone.
        if opens
            && io::stderr().is_terminal()
            && let Err(error) = browser::that_detached(&link)
        {
            complain(&format!("cannot open a browser: {error} (open the link yourself)"));
        }
        if io::stdin().is_terminal() {
            writeln!(
                stdout(),
                "press Enter for another link (each one works once, for ten minutes)"
            )?;
        }
        Ok(())
    }

    /// Prints another link whenever Enter is pressed at a terminal. Never ends. Cancel safe.
    pub async fn more(&self) {
        if io::stdin().is_terminal() {
            let mut lines = BufReader::new(tokio::io::stdin()).lines();
            while let Ok(Some(_)) = lines.next_line().await {
                if let Err(error) = self.print() {
                    tracing::debug!(%error, "cannot print a link");
                }
            }
        }
        pending::<()>().await;
    }

    fn print(&self) -> io::Result<String> {
        let link = self.doors.link(&self.base);
        writeln!(stdout(), "this link lets one browser in, once: {link}")?;
        Ok(link)
    }
}
