//! Routes of REST, and their handlers.
//!
//! Entry function: [`find`]. Never: answering.

use super::{
    body::File,
    channels, commands, guilds,
    refusal::{Answered, Problems, Refusal},
    users, webhooks,
};
use crate::{
    state::{Shared, State},
    world::model::Channel,
};
use serde_json::Value;

/// A request on its way to its handler.
pub(crate) struct Call<'a> {
    /// Everything.
    pub(crate) inner: &'a Shared,
    /// Values of the braces in the route's path.
    pub(crate) params: Params,
    /// After the question mark.
    pub(crate) query: String,
    /// User of the token.
    pub(crate) user: u64,
    /// JSON, or null.
    pub(crate) body: Value,
    /// Files of the request.
    pub(crate) files: Vec<File>,
}

/// Values of a path's braces, by their names.
pub(crate) type Params = Vec<(&'static str, String)>;

/// Answers a request.
pub(crate) type Handler = fn(&Call) -> Answered;

/// A request that exists.
#[derive(Clone, Copy)]
pub(crate) struct Route {
    /// `GET` and so on.
    pub(crate) method: &'static str,
    /// With braces for what varies.
    pub(crate) path: &'static str,
    /// Its handler.
    pub(crate) handler: Handler,
    /// True if a token in the headers is needed.
    pub(crate) authorised: bool,
}

/// A route that needs a token.
const fn route(method: &'static str, path: &'static str, handler: Handler) -> Route {
    Route { method, path, handler, authorised: true }
}

/// A route whose path says who asks.
const fn open(method: &'static str, path: &'static str, handler: Handler) -> Route {
    Route { method, path, handler, authorised: false }
}

/// All of them; words before braces.
const ROUTES: &[Route] = &[
    open("GET", "/gateway", users::gateway),
    route("GET", "/gateway/bot", users::gateway_bot),
    route("GET", "/users/@me", users::me),
    route("GET", "/users/@me/guilds", users::my_guilds),
    route("POST", "/users/@me/channels", users::open_dm),
    route("GET", "/users/{user_id}", users::user),
    route("GET", "/oauth2/applications/@me", users::application),
    route("GET", "/applications/@me", users::application),
    route("GET", "/applications/{application_id}/commands", commands::list),
    route("POST", "/applications/{application_id}/commands", commands::create),
    route("PUT", "/applications/{application_id}/commands", commands::overwrite),
    route("GET", "/applications/{application_id}/commands/{command_id}", commands::show),
    route("PATCH", "/applications/{application_id}/commands/{command_id}", commands::edit),
    route("DELETE", "/applications/{application_id}/commands/{command_id}", commands::delete),
    route("GET", "/applications/{application_id}/guilds/{guild_id}/commands", commands::list),
    route("POST", "/applications/{application_id}/guilds/{guild_id}/commands", commands::create),
    route("PUT", "/applications/{application_id}/guilds/{guild_id}/commands", commands::overwrite),
    route(
        "GET",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        commands::show,
    ),
    route(
        "PATCH",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        commands::edit,
    ),
    route(
        "DELETE",
        "/applications/{application_id}/guilds/{guild_id}/commands/{command_id}",
        commands::delete,
    ),
    open("POST", "/interactions/{interaction_id}/{token}/callback", webhooks::callback),
    open("POST", "/webhooks/{application_id}/{token}", webhooks::follow_up),
    open("GET", "/webhooks/{application_id}/{token}/messages/@original", webhooks::show),
    open("PATCH", "/webhooks/{application_id}/{token}/messages/@original", webhooks::edit),
    open("DELETE", "/webhooks/{application_id}/{token}/messages/@original", webhooks::delete),
    open("GET", "/webhooks/{application_id}/{token}/messages/{message_id}", webhooks::show),
    open("PATCH", "/webhooks/{application_id}/{token}/messages/{message_id}", webhooks::edit),
    open("DELETE", "/webhooks/{application_id}/{token}/messages/{message_id}", webhooks::delete),
    route("GET", "/channels/{channel_id}", channels::show),
    route("GET", "/channels/{channel_id}/messages", channels::messages),
    route("POST", "/channels/{channel_id}/messages", channels::send),
    route("GET", "/channels/{channel_id}/messages/{message_id}", channels::message),
    route("PATCH", "/channels/{channel_id}/messages/{message_id}", channels::edit),
    route("DELETE", "/channels/{channel_id}/messages/{message_id}", channels::delete),
    route("POST", "/channels/{channel_id}/typing", channels::typing),
    route("PUT", "/channels/{channel_id}/voice-status", channels::voice_status),
    route("GET", "/guilds/{guild_id}", guilds::show),
    route("GET", "/guilds/{guild_id}/channels", guilds::channels),
    route("GET", "/guilds/{guild_id}/roles", guilds::roles),
    route("GET", "/guilds/{guild_id}/members/{user_id}", guilds::member),
    route("GET", "/guilds/{guild_id}/voice-states/@me", guilds::voice_state),
    route("PATCH", "/guilds/{guild_id}/voice-states/@me", guilds::edit_voice_state),
    route("GET", "/guilds/{guild_id}/voice-states/{user_id}", guilds::voice_state),
];

/// The values of `pattern`'s braces in `path`, if it fits.
fn fit(pattern: &'static str, path: &str) -> Option<Params> {
    let (mut values, mut parts) = (Vec::new(), path.split('/'));
    for expected in pattern.split('/') {
        let part = parts.next()?;
        match expected.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) if !part.is_empty() => values.push((name, part.to_owned())),
            Some(_) => return None,
            None if expected == part => {}
            None => return None,
        }
    }
    parts.next().is_none().then_some(values)
}

/// The route of a request, and the values in its path; the path is without `/api/v10`.
pub(crate) fn find(method: &str, path: &str) -> Result<(Route, Params), Refusal> {
    let mut known = false;
    let mut literal = None;
    for route in ROUTES {
        let Some(values) = fit(route.path, path) else { continue };
        // "@me" must not be taken for a user's id.
        if *literal.get_or_insert(route.path) != route.path {
            continue;
        }
        known = true;
        if route.method == method {
            return Ok((*route, values));
        }
    }
    if known {
        return Err(Refusal::fault(405, 0, "405: Method Not Allowed"));
    }
    Err(Refusal::fault(404, 0, "404: Not Found"))
}

/// The channel, guild or application, or the webhook or interaction with its token, that has a bucket of its own.
pub(crate) fn major(path: &str, values: &[(&'static str, String)]) -> String {
    let parts = if path.contains("{token}") { 2 } else { 1 };
    values.iter().take(parts).map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
}

impl Call<'_> {
    /// A value of the path as it is.
    pub(crate) fn param(&self, name: &str) -> Option<&str> {
        let found = self.params.iter().find(|(key, _)| *key == name);
        found.map(|(_, value)| value.as_str())
    }

    /// An id of the path.
    pub(crate) fn id(&self, name: &str) -> Result<u64, Refusal> {
        let text = self.param(name).unwrap_or_default();
        let message = format!("Value \"{text}\" is not snowflake.");
        text.parse().map_err(|_| Problems::only(name, "NUMBER_TYPE_COERCE", &message))
    }

    /// The channel of the path, for a user who has `bits` there.
    pub(crate) fn channel<'s>(&self, state: &'s State, bits: u64) -> Result<&'s Channel, Refusal> {
        use crate::world::permission::VIEW_CHANNEL;
        let id = self.id("channel_id")?;
        let channel =
            state.world.channels.get(&id).ok_or_else(|| Refusal::unknown(10_003, "Channel"))?;
        let has = state.world.permissions(self.user, channel);
        if has & VIEW_CHANNEL == 0 {
            return Err(Refusal::access());
        }
        if has & bits != bits {
            return Err(Refusal::permissions());
        }
        Ok(channel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_their_routes() {
        let (route, values) =
            find("PATCH", "/guilds/5/voice-states/@me").unwrap_or_else(|_| panic!("no route"));
        assert_eq!((route.path, values.len()), ("/guilds/{guild_id}/voice-states/@me", 1));
        let (_, values) =
            find("GET", "/channels/7/messages/8").unwrap_or_else(|_| panic!("no route"));
        assert_eq!(values, [("channel_id", "7".to_owned()), ("message_id", "8".to_owned())]);
        assert_eq!(find("PUT", "/channels/7").err().map(|refusal| refusal.status), Some(405));
        assert_eq!(find("PATCH", "/users/@me").err().map(|refusal| refusal.status), Some(405));
        assert_eq!(find("GET", "/channel/7").err().map(|refusal| refusal.status), Some(404));
    }
}
