//! Embeddings of an OpenAI-compatible endpoint: one request per batch, without retries.
//!
//! Entry type: [`Embeddings`]. Vectors are read as arrays of numbers, in the order of `index` where
//! given.

use std::sync::{Arc, OnceLock};

use futures::{FutureExt, future::BoxFuture};
use serde_json::{Map, Value, json};

use super::NAME;
use crate::provider::{
    Embedder, Error, Kind,
    bounds::VECTOR_VALUES,
    remote::{Endpoint, Options, ServiceError},
};

pub struct Embeddings {
    endpoint: Arc<Endpoint>,
    dimension: Arc<OnceLock<usize>>,
}

impl Embeddings {
    pub fn new(options: Options) -> Result<Self, Error> {
        Ok(Self { endpoint: Arc::new(Endpoint::new(options)?), dimension: Arc::default() })
    }
}

impl Embedder for Embeddings {
    fn name(&self) -> &str {
        NAME
    }

    fn dimension(&self) -> Option<usize> {
        self.dimension.get().copied()
    }

    fn embed(&self, texts: &[String]) -> BoxFuture<'static, Result<Vec<Vec<f32>>, Error>> {
        let (endpoint, dimension) = (Arc::clone(&self.endpoint), Arc::clone(&self.dimension));
        let mut body = Map::new();
        body.insert("model".into(), json!(endpoint.options.model));
        body.insert("input".into(), json!(texts));
        body.extend(endpoint.options.extra_body.clone());
        body.insert("encoding_format".into(), json!("float"));
        let (body, count) = (Value::Object(body), texts.len());
        async move {
            if count == 0 {
                return Ok(Vec::new());
            }
            let vectors = ask(&endpoint, &body, count).await?;
            let length = vectors.first().map_or(0, Vec::len);
            let known = *dimension.get_or_init(|| length);
            if length == 0 || vectors.iter().any(|vector| vector.len() != known) {
                let what = format!("vectors that are not all {known} numbers long");
                let way_out = "is model an embedding model?";
                return Err(endpoint.peer.error(Kind::Protocol, &what, way_out));
            }
            Ok(vectors)
        }
        .boxed()
    }
}

async fn ask(endpoint: &Endpoint, body: &Value, count: usize) -> Result<Vec<Vec<f32>>, Error> {
    let response = endpoint.post("/embeddings", body).await.map_err(|failure| failure.error)?;
    let bytes = endpoint.read(response).await?;
    VECTOR_VALUES.check_values(&bytes).map_err(|bound| endpoint.peer.over(bound))?;
    let answer: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    if let Some(said) = ServiceError::read(&answer) {
        return Err(endpoint.peer.service_error(&said, None, body));
    }
    vectors(&answer).filter(|vectors| vectors.len() == count).ok_or_else(|| {
        let way_out = "is model an embedding model, and base_url its server's?";
        let what = format!("no {count} vectors in the answer");
        endpoint.peer.error(Kind::Protocol, &what, way_out)
    })
}

fn vectors(answer: &Value) -> Option<Vec<Vec<f32>>> {
    let data = answer.get("data")?.as_array()?;
    let mut placed = data
        .iter()
        .enumerate()
        .map(|(place, item)| {
            let index = item.get("index").and_then(Value::as_u64);
            let numbers = item.get("embedding")?.as_array()?.iter().map(number);
            Some((index.or_else(|| u64::try_from(place).ok())?, numbers.collect::<Option<_>>()?))
        })
        .collect::<Option<Vec<(u64, Vec<f32>)>>>()?;
    placed.sort_by_key(|(index, _)| *index);
    Some(placed.into_iter().map(|(_, vector)| vector).collect())
}

fn number(value: &Value) -> Option<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "a component needs no more digits")]
    let number = value.as_f64()? as f32;
    number.is_finite().then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::Secret,
        provider::remote::{
            chat_server::{ChatServer, Script},
            options,
        },
    };

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    async fn one(script: Script) -> Result<Vec<Vec<f32>>, Error> {
        let server = ChatServer::start();
        server.push(script);
        let embedder = Embeddings::new(options(&server.base_url())).unwrap();
        embedder.embed(&texts(&["roll dice"])).await
    }

    #[tokio::test]
    async fn vectors_come_in_the_order_of_their_texts() {
        let server = ChatServer::with_key(Some("sk-1"));
        let mut options = options(&server.base_url());
        options.api_key = Some(Secret("sk-1".into()));
        let embedder = Embeddings::new(options).unwrap();
        assert_eq!(embedder.dimension(), None);
        server.push(Script::json(
            200,
            &json!({"object": "list", "data": [
                {"object": "embedding", "index": 1, "embedding": [0.0, 1]},
                {"object": "embedding", "index": 0, "embedding": [1, 0.5]},
            ], "model": "m", "usage": {"prompt_tokens": 4, "total_tokens": 4}}),
        ));
        let vectors = embedder.embed(&texts(&["roll dice", "look it up"])).await.unwrap();
        assert_eq!(vectors, [[1.0, 0.5], [0.0, 1.0]]);
        assert_eq!(embedder.dimension(), Some(2));
        let sent = &server.requests()[0];
        assert_eq!(sent.json["input"], json!(["roll dice", "look it up"]));
        assert_eq!(sent.json["encoding_format"], "float");
        // A vector of another length could not be compared.
        server.push(Script::json(200, &json!({"data": [{"embedding": [1, 2, 3]}]})));
        let error = embedder.embed(&texts(&["x"])).await.unwrap_err();
        assert_eq!(error.kind(), Kind::Protocol);
        assert_eq!(embedder.embed(&[]).await.unwrap(), Vec::<Vec<f32>>::new());
    }

    #[tokio::test]
    async fn malformed_responses_are_errors_by_kind() {
        let kind = |script| async move { one(script).await.map_err(|error| error.kind()) };
        assert_eq!(kind(Script::json(200, &json!({"data": []}))).await, Err(Kind::Protocol));
        assert_eq!(kind(Script::plain(200, "text/html").raw("<html>")).await, Err(Kind::Protocol));
        let base64 = json!({"data": [{"embedding": "AAAA"}]});
        assert_eq!(kind(Script::json(200, &base64)).await, Err(Kind::Protocol));
        let error = Script::error(404, "invalid_request_error", "no such model");
        assert_eq!(kind(error).await, Err(Kind::InvalidRequest));
        let bare = json!({"data": [{"embedding": [0.25]}]});
        assert_eq!(one(Script::json(200, &bare)).await.unwrap(), [[0.25]]);
    }
}
