//! The link with which a server's manager invites the bot.
//!
//! Entry functions: [`invite`], [`link`]. **Never**: asks for more than the bot needs.

use serenity::all::ApplicationId;

use super::{
    access,
    options::Options,
    rest::{self, Fatal},
};

/// Invitation of the bot.
#[derive(Clone, Debug)]
pub struct Invitation {
    /// The bot's name.
    pub bot: String,
    /// The application's id.
    pub application: u64,
    /// Permission bits the link asks for.
    pub permissions: u64,
    /// Opened in a browser, it invites the bot.
    pub link: String,
    /// Not its owner alone may invite it.
    pub is_public: bool,
}

/// Steps that make an application private to its owner.
pub const MAKE_PRIVATE: &str = "at https://discord.com/developers/applications set Installation, Install Link to None, \
     then turn off Bot, Public Bot";

/// Asks Discord which application the token is for, and makes its link. Cancel safe.
///
/// # Errors
/// Discord does not take the token or does not answer.
pub async fn invite(options: &Options) -> Result<Invitation, Fatal> {
    let http = rest::http(options)?;
    let (application, me) = rest::patiently(rest::introduce(&http)).await?;
    Ok(Invitation {
        bot: me.name.clone(),
        application: application.id.get(),
        permissions: access::INVITE.bits(),
        link: link(application.id, options.guild),
        is_public: application.bot_public,
    })
}

/// The link for `application`, with a server already chosen when there is one.
/// [Parameters](https://discord.com/developers/docs/topics/oauth2#bot-authorization-flow).
pub fn link(application: ApplicationId, guild: Option<u64>) -> String {
    let permissions = access::INVITE.bits();
    let chosen = guild.map(|id| format!("&guild_id={id}")).unwrap_or_default();
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}\
         &scope=bot%20applications.commands&permissions={permissions}{chosen}"
    )
}
