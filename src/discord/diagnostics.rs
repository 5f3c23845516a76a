//! Checks over REST: token, application, servers, channels and commands.
//!
//! Entry function: [`diagnose`]. **Never**: changes anything, or opens the gateway, where a running
//! bot would lose events.

use serenity::{
    all::{
        ChannelType, CurrentApplicationInfo, GuildChannel, GuildId, Member, PartialGuild,
        Permissions, UserId,
    },
    http::Http,
};

use super::{access, invite, options::Options, registration, rest};
use crate::campaign::GuildStore;

/// Servers checked when none is configured.
const SERVERS_MAX: u64 = 10;

/// Result of one check.
#[derive(Clone, Debug)]
pub struct Finding {
    /// "discord token", for example.
    pub what: &'static str,
    /// Its state, or the problem and its fix; one line.
    pub found: Result<String, String>,
}

/// Checks everything the bot needs; failures are findings. `kept`: the servers' settings, if a
/// store exists. Cancel safe.
pub async fn diagnose(options: &Options, kept: Option<&GuildStore>) -> Vec<Finding> {
    let introduced = match rest::http(options) {
        Ok(http) => rest::patiently(rest::introduce(&http)).await.map(|it| (http, it)),
        Err(error) => Err(error),
    };
    let (http, (application, me)) = match introduced {
        Ok(known) => known,
        Err(error) => return vec![finding("discord token", Err(error.to_string()))],
    };
    let link = invite::link(application.id, options.guild);
    let mut findings = vec![
        finding("discord token", Ok(format!("the bot is '{}'", me.name))),
        finding("discord application", usable(&application)),
    ];
    let look = Look { http: &http, options, kept, me: me.id, link: &link };
    findings.extend(look.at_servers().await);
    findings.push(finding("discord commands", look.at_commands().await));
    findings
}

fn finding(what: &'static str, found: Result<String, String>) -> Finding {
    Finding { what, found }
}

/// Checks settings of the developer portal that prevent inviting or using the bot.
fn usable(application: &CurrentApplicationInfo) -> Result<String, String> {
    let portal = "at https://discord.com/developers/applications";
    if application.interactions_endpoint_url.as_ref().is_some_and(|it| !it.is_empty()) {
        return Err(format!(
            "commands go to another address, so the bot never sees them (empty Interactions \
             Endpoint URL {portal}, under General Information)"
        ));
    }
    if application.bot_require_code_grant {
        return Err(format!(
            "its invite link does not work (turn off Requires OAuth2 Code Grant {portal}, under \
             Bot)"
        ));
    }
    Ok(if application.bot_public {
        format!(
            "'{}': anyone can invite it, but it answers only on servers you approve (to make it \
             private: {})",
            application.name,
            invite::MAKE_PRIVATE
        )
    } else {
        format!("'{}': only its owner can invite it", application.name)
    })
}

struct Look<'a> {
    http: &'a Http,
    options: &'a Options,
    kept: Option<&'a GuildStore>,
    me: UserId,
    link: &'a str,
}

impl Look<'_> {
    async fn at_servers(&self) -> Vec<Finding> {
        let ids = match self.options.guild {
            Some(id) => Ok(vec![GuildId::new(id)]),
            None => rest::patiently(self.http.get_guilds(None, Some(SERVERS_MAX)))
                .await
                .map(|all| all.iter().map(|it| it.id).collect()),
        };
        let ids = match ids {
            Ok(ids) if ids.is_empty() => {
                let lack = format!("the bot has not joined any server (invite it: {} )", self.link);
                return vec![finding("discord server", Err(lack))];
            }
            Ok(ids) => ids,
            Err(error) => return vec![finding("discord server", Err(error.to_string()))],
        };
        let mut findings = Vec::new();
        for id in ids {
            findings.extend(self.at_server(id).await);
        }
        findings
    }

    async fn at_server(&self, id: GuildId) -> Vec<Finding> {
        let asked = async {
            let guild = self.http.get_guild(id).await?;
            let member = self.http.get_member(id, self.me).await?;
            serenity::Result::Ok((guild, member, self.http.get_channels(id).await?))
        };
        // A server without the bot is no connection problem.
        let found = rest::patiently(async {
            match asked.await {
                Err(error) if matches!(rest::status(&error), Some(403 | 404)) => Ok(None),
                answer => answer.map(Some),
            }
        });
        let (guild, member, channels) = match found.await {
            Ok(Some(found)) => found,
            Ok(None) => {
                let lack = format!("the bot is not in server '{id}' (invite it: {} )", self.link);
                return vec![finding("discord server", Err(lack))];
            }
            Err(error) => return vec![finding("discord server", Err(error.to_string()))],
        };
        if let Err(why) = self.served(&guild).await {
            return vec![finding("discord server", Err(why))];
        }
        let mut findings = vec![finding("discord server", self.game_masters(&guild))];
        findings.extend(at_channels(&guild, &member, channels));
        findings
    }

    /// Checks that commands of `guild` are answered; the error includes the fix.
    async fn served(&self, guild: &PartialGuild) -> Result<(), String> {
        let id = guild.id.get();
        let is_served = match (self.options.serves(id), self.kept) {
            (Some(is_served), _) => is_served,
            (None, Some(kept)) => kept.is_kept(id).await.map_err(|why| why.to_string())?,
            (None, None) => false,
        };
        if is_served {
            return Ok(());
        }
        Err(format!(
            "'{}' ({id}) is not approved: the bot answers no player there, and glyphoxa run leaves it \
             after an hour (list it in discord.guilds, or type /setup there with the code that \
             glyphoxa run prints)",
            guild.name
        ))
    }

    /// Describes the game masters of `guild`; an error if it lacks the configured role.
    fn game_masters(&self, guild: &PartialGuild) -> Result<String, String> {
        let configured = self.options.dm_role.filter(|_| !self.options.everyone_is_dm);
        let masters = match configured {
            _ if self.options.everyone_is_dm => "everyone is a game master".to_owned(),
            None => {
                "game masters: members who may manage the server, until a role is set".to_owned()
            }
            Some(id) => match guild.roles.values().find(|role| role.id.get() == id) {
                Some(role) => format!("game masters: '{}'", role.name),
                None => {
                    return Err(format!(
                        "'{}' has no role '{id}' and so no game master (set discord.dm_role to the id \
                         of one of its roles)",
                        guild.name
                    ));
                }
            },
        };
        Ok(format!("in '{}'; {masters}", guild.name))
    }

    async fn at_commands(&self) -> Result<String, String> {
        let place = match self.options.guild {
            Some(id) => format!("in server '{id}'"),
            None => "in every server".to_owned(),
        };
        let asked = rest::patiently(async {
            match registration::unknown(self.http, self.options).await {
                Err(error) if rest::status(&error) == Some(403) => Ok(None),
                answer => answer.map(Some),
            }
        });
        match asked.await {
            Ok(Some(unknown)) if unknown.is_empty() => Ok(format!("registered {place}")),
            Ok(Some(unknown)) => Err(format!(
                "not registered {place}: /{} (glyphoxa run registers them at its start)",
                unknown.join(", /")
            )),
            Ok(None) => Err(format!("not allowed {place} (invite the bot: {} )", self.link)),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Every voice channel, the text channels that lack something, and the number of the others.
fn at_channels(
    guild: &PartialGuild,
    member: &Member,
    mut channels: Vec<GuildChannel>,
) -> Vec<Finding> {
    channels.sort_by_key(|channel| (channel.position, channel.id));
    let (mut findings, mut writable) = (Vec::new(), 0_usize);
    for channel in &channels {
        let name = format!("'#{}' of '{}'", channel.name, guild.name);
        let has = guild.user_permissions_in(channel, member);
        match channel.kind {
            ChannelType::Voice | ChannelType::Stage => {
                findings.push(finding("voice channel", at_voice(channel, name, has)));
            }
            ChannelType::Text => match access::forbids_text(has).join(", ") {
                lacks if lacks.is_empty() => writable += 1,
                lacks => {
                    let lack =
                        format!("I lack {lacks} in {name} (grant it to use it for /session)");
                    findings.push(finding("text channel", Err(lack)));
                }
            },
            _ => {}
        }
    }
    if writable > 0 {
        let found = format!("{writable} of '{}' can be used for /session", guild.name);
        findings.push(finding("text channels", Ok(found)));
    }
    findings
}

/// REST does not list members of a voice channel, so its limit is only mentioned.
fn at_voice(channel: &GuildChannel, name: String, has: Permissions) -> Result<String, String> {
    if let Some(lack) = access::forbids_voice(channel, &name, has) {
        return Err(lack.to_string());
    }
    match access::seats(channel, has) {
        Some(1) => Err(format!(
            "{name} is full once one player joins (raise its user limit, or grant me Move Members)"
        )),
        Some(seats) => Ok(format!(
            "{name}; I need one of its {seats} seats (Move Members lets me in when it is full)"
        )),
        None => Ok(name),
    }
}
