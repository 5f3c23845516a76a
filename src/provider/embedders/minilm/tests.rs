//! A tiny model with random weights, written as publishers write theirs; and the real one, where
//! `GLYPHOXA_MINILM` names its folder.

use std::collections::HashMap;

use candle_core::Tensor;
use serde_json::json;
use tempfile::TempDir;

use super::*;

/// A folder with a model of two layers over eight numbers, whose tensors' names begin with `prefix`.
fn model(prefix: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let shape = json!({
        "hidden_size": 8, "max_position_embeddings": 16, "num_hidden_layers": 2,
        "num_attention_heads": 2, "intermediate_size": 16, "vocab_size": 8, "type_vocab_size": 2,
        "layer_norm_eps": 1e-12, "hidden_act": "gelu", "model_type": "bert",
    });
    fs::write(dir.path().join(FILES[0]), shape.to_string()).unwrap();
    let words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "roll", "dice", "weather", "##s"];
    let vocab: HashMap<&str, usize> = words.iter().enumerate().map(|(id, it)| (*it, id)).collect();
    let tokenizer = json!({
        "version": "1.0",
        "truncation": { "max_length": 128, "strategy": "LongestFirst", "stride": 0,
            "direction": "Right" },
        "padding": { "strategy": { "Fixed": 128 }, "direction": "Right", "pad_to_multiple_of": null,
            "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]" },
        "added_tokens": [],
        "normalizer": { "type": "BertNormalizer", "clean_text": true,
            "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": { "type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2] },
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": true },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocab },
    });
    fs::write(dir.path().join(FILES[1]), tokenizer.to_string()).unwrap();
    let mut tensors = HashMap::new();
    let mut add = |name: String, shape: &[usize]| {
        let numbers = Tensor::randn(0.0_f32, 0.3, shape, &Device::Cpu).unwrap();
        tensors.insert(format!("{prefix}{name}"), numbers);
    };
    add("embeddings.word_embeddings.weight".into(), &[8, 8]);
    add("embeddings.position_embeddings.weight".into(), &[16, 8]);
    add("embeddings.token_type_embeddings.weight".into(), &[2, 8]);
    let mut maps = vec![("embeddings.LayerNorm".to_owned(), 8, 0)];
    for layer in ["encoder.layer.0", "encoder.layer.1"] {
        for map in ["query", "key", "value"] {
            maps.push((format!("{layer}.attention.self.{map}"), 8, 8));
        }
        maps.push((format!("{layer}.attention.output.dense"), 8, 8));
        maps.push((format!("{layer}.attention.output.LayerNorm"), 8, 0));
        maps.push((format!("{layer}.intermediate.dense"), 16, 8));
        maps.push((format!("{layer}.output.dense"), 8, 16));
        maps.push((format!("{layer}.output.LayerNorm"), 8, 0));
    }
    for (name, out, from) in maps {
        let shape = if from == 0 { vec![out] } else { vec![out, from] };
        add(format!("{name}.weight"), &shape);
        add(format!("{name}.bias"), &[out]);
    }
    candle_core::safetensors::save(&tensors, dir.path().join(FILES[2])).unwrap();
    dir
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn texts_become_vectors_of_the_models_length() {
    for prefix in ["", "bert."] {
        let dir = model(prefix);
        let model = MiniLm::open(dir.path()).unwrap();
        assert_eq!(model.dimension(), None, "nothing is loaded yet");
        let long = "dice ".repeat(500);
        let asked = texts(&["Roll dice!", "roll  DICE !", "weathers", &long, ""]);
        let vectors = model.embed(&asked).await.unwrap();
        assert_eq!(vectors.len(), 5);
        assert!(vectors.iter().all(|it| it.len() == 8 && it.iter().all(|n| n.is_finite())));
        assert_eq!(vectors[0], vectors[1], "spaces and capitals make no difference");
        assert_ne!(vectors[0], vectors[2]);
        assert_eq!(model.dimension(), Some(8));
        assert_eq!(model.embed(&asked).await.unwrap(), vectors, "the same again");
    }
}

#[tokio::test]
async fn what_is_missing_or_broken_is_named() {
    let dir = model("");
    let error = |file: &str| {
        let refused = MiniLm::open(dir.path()).err().map(|error| error.to_string());
        refused.unwrap_or_else(|| panic!("'{file}' is not missed"))
    };
    for file in FILES {
        let away = dir.path().join("away");
        fs::rename(dir.path().join(file), &away).unwrap();
        assert!(error(file).starts_with(&format!("there is no '{file}' in '")), "{}", error(file));
        fs::write(dir.path().join(file), "{}").unwrap();
        let broken = MiniLm::open(dir.path()).unwrap().embed(&texts(&["x"])).await.unwrap_err();
        assert_eq!(broken.kind(), Kind::Missing);
        assert!(broken.to_string().contains(&format!("{file}' is not what")), "{broken}");
        fs::rename(&away, dir.path().join(file)).unwrap();
    }
    assert!(MiniLm::open(dir.path()).unwrap().embed(&texts(&["x"])).await.is_ok());
}

#[tokio::test]
async fn the_real_model_knows_what_belongs_together() {
    let folder = std::env::var_os("GLYPHOXA_MINILM").filter(|folder| !folder.is_empty());
    let Some(folder) = folder else {
        println!("skipped: GLYPHOXA_MINILM names no folder");
        return;
    };
    let model = MiniLm::open(Path::new(&folder)).unwrap();
    let asked = texts(&[
        "A man is eating food.",
        "A man is eating a piece of bread.",
        "A cheetah is running behind its prey.",
    ]);
    let vectors = model.embed(&asked).await.unwrap();
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let cosine = |a: &[f32], b: &[f32]| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt();
    let (near, far) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
    // The publisher's own examples: 0.7553 and 0.0 or thereabouts.
    assert!((near - 0.755).abs() < 0.01 && far < 0.2, "{near} {far}");
    assert_eq!(model.dimension(), Some(384));
}
