//! Resources: transcripts, recaps, entities and NPCs. Entry functions: [`list`], [`templates`],
//! [`read`]; [`ResourceReader`] decides what the holder of a token may read.

mod reader;
mod snapshot;
#[cfg(test)]
pub mod stand_in;
#[cfg(test)]
mod tests;
mod texts;
mod uri;

pub use reader::{ReadError, ResourceReader};
pub use snapshot::{ResourceChange, ResourceSnapshot};
pub use texts::npc as npc_text;
pub use uri::ResourceUri;

use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};
use serde_json::json;
use uri::kinds_of;

use crate::{
    campaign::{Holder, date, entity_word},
    domain::one_line,
    web::mcp::server::McpServer,
};

/// Resources in one answer of a list.
const PAGE: usize = 100;
/// Longest title, or part of what was asked for in an error, in characters.
const TITLE_MAX: usize = 200;
const MIME: &str = "text/plain";

/// A page of the holder's resources, the latest sessions first. Cancel safe.
pub async fn list(
    server: &McpServer,
    holder: &Holder,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    page(&ResourceReader { handles: &server.parts.handles, holder }, cursor).await
}

/// Templates of the holder's resources.
pub fn templates(holder: &Holder) -> ListResourceTemplatesResult {
    let templates = kinds_of(holder).map(|kind| {
        ResourceTemplate::new(kind.template, kind.name)
            .with_title(kind.title)
            .with_description(kind.description)
            .with_mime_type(MIME)
    });
    let all = ListResourceTemplatesResult::with_all_items(templates.collect());
    all.with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

/// The resource `uri`, as far as the holder may see it. Cancel safe.
pub async fn read(
    server: &McpServer,
    holder: &Holder,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let reader = ResourceReader { handles: &server.parts.handles, holder };
    let text = reader.read(uri).await.map_err(refused)?;
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME);
    let read = ReadResourceResult::new(vec![contents]);
    Ok(read.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// The error for the caller. Logs faults of ours, whose texts may name files and hosts.
pub fn refused(error: ReadError) -> ErrorData {
    if let ReadError::Unknown(uri) = &error {
        let shown = one_line(uri, TITLE_MAX);
        return ErrorData::resource_not_found(error.to_string(), Some(json!({ "uri": shown })));
    }
    tracing::warn!(%error, "cannot read a resource for a program outside");
    let text = if error.is_passing() {
        "cannot read it now (try again in a minute)"
    } else {
        "cannot read it (the log of glyphoxa says why)"
    };
    ErrorData::internal_error(text, None)
}

async fn page(
    reader: &ResourceReader<'_>,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let from: usize = match &cursor {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| {
            let shown = one_line(cursor, TITLE_MAX);
            let text = format!("unknown cursor '{shown}' (list again without one)");
            ErrorData::invalid_params(text, None)
        })?,
    };
    if cursor.is_none() {
        reader.seed().await.map_err(refused)?;
    }
    let all = listed(reader).await.map_err(refused)?;
    let left = all.len().saturating_sub(from);
    let page = all.into_iter().skip(from).take(PAGE).collect();
    let mut result = ListResourcesResult::with_all_items(page);
    result.next_cursor = (left > PAGE).then(|| (from + PAGE).to_string());
    Ok(result.with_ttl_ms(0).with_cache_scope(CacheScope::Private))
}

/// All resources that the holder may read and that are listed.
async fn listed(reader: &ResourceReader<'_>) -> Result<Vec<Resource>, ReadError> {
    let mut all = Vec::new();
    for (scope, entry) in reader.sessions().await? {
        let session = entry.session;
        let began = session.started.map_or_else(|| session.id.clone(), date);
        let title = session.title.as_deref().map(|it| format!(" “{it}”")).unwrap_or_default();
        let of = format!("the session{title} of {began}, campaign {}", scope.campaign.0);
        all.push((ResourceUri::Transcript(session.id.clone()), format!("Transcript of {of}")));
        all.push((ResourceUri::Recap(session.id), format!("Recap of {of}")));
    }
    for npc in reader.npcs().await {
        all.push((ResourceUri::Npc(npc.name.clone()), npc.name.clone()));
    }
    for entity in reader.entities().await? {
        let title = format!("{} ({})", entity.name, entity_word(entity.kind));
        all.push((ResourceUri::Entity(entity.id), title));
    }
    all.retain(|(uri, _)| reader.holder.has_tool(uri.kind().tool));
    Ok(all.into_iter().map(|(uri, title)| entry_of(&uri, &title)).collect())
}

/// A resource in a list.
fn entry_of(uri: &ResourceUri, title: &str) -> Resource {
    let title = one_line(title, TITLE_MAX);
    Resource::new(uri.to_string(), title.clone())
        .with_title(title)
        .with_description(uri.kind().description)
        .with_mime_type(MIME)
}
