//! The link with which a server's manager invites the bot.
//!
//! Entry functions: [`invite`], [`link`].

use serenity::all::ApplicationId;

use super::{
    access,
    options::Options,
    rest::{self, Fatal},
};

#[derive(Clone, Debug)]
pub struct Invitation {
    pub bot: String,
    pub application: u64,
    /// Permission bits of the link.
    pub permissions: u64,
    pub link: String,
    /// True if others than its owner may invite it.
    pub is_public: bool,
}

/// Steps that make an application private to its owner.
pub const MAKE_PRIVATE: &str = "at https://discord.com/developers/applications set Installation, Install Link to None, \
     then turn off Bot, Public Bot";

/// Asks Discord for the token's application and makes its link. Cancel safe.
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

/// The link for `application`, with a preselected server if given.
/// [Parameters](https://discord.com/developers/docs/topics/oauth2#bot-authorization-flow).
pub fn link(application: ApplicationId, guild: Option<u64>) -> String {
    let permissions = access::INVITE.bits();
    let chosen = guild.map(|id| format!("&guild_id={id}")).unwrap_or_default();
    format!(
        "https://discord.com/oauth2/authorize?client_id={application}\
         &scope=bot%20applications.commands&permissions={permissions}{chosen}"
    )
}
