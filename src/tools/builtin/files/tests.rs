use std::fs;

use tokio::time::Instant;

use super::*;
use crate::{
    domain::{CallId, CampaignKey, SessionId, ToolCall, TurnId},
    tools::{Attachment, Authority, CallRecord, Effects, Progress, SourceKind, Taint, ToolHost},
};

/// Effects on an empty table.
struct Nobody;

impl Effects for Nobody {
    fn show(&self, _: &str) {}

    fn attach(&self, _: &str, _: &Attachment) -> bool {
        true
    }
}

const CAMPAIGN: &str = "Ravenford: Act 1!";

fn played(owner: Owner, campaign: &str) -> Scope {
    Scope { owner, campaign: CampaignKey(campaign.to_owned()) }
}

fn context() -> CallContext {
    CallContext {
        scope: played(Owner::Local, CAMPAIGN),
        session: SessionId("test".to_owned()),
        turn: TurnId(1),
        authority: Authority::Operator,
        speaker: Arc::from("Ann"),
        by: None,
        deadline: Instant::now() + std::time::Duration::from_secs(60),
        fresh: false,
        taint: Taint::default(),
        progress: Progress::default(),
        span: Default::default(),
        cancel: CancellationToken::new(),
        effects: Arc::new(Nobody),
    }
}

/// A folder, its host and the campaign's own folder.
struct Place {
    base: tempfile::TempDir,
    host: ToolHost,
}

impl Place {
    fn new() -> Self {
        let base = tempfile::tempdir().expect("a folder");
        let host = host_of(FileIo { base: base.path().join("files"), read_only: false });
        Self { base, host }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.base.path().join("files/ravenford-act-1").join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder is made");
        fs::write(path, content).expect("a file is written");
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallRecord {
        self.call_in(&context(), tool, arguments).await
    }

    async fn call_in(&self, context: &CallContext, tool: &str, arguments: Value) -> CallRecord {
        let call = ToolCall {
            id: CallId("1".into()),
            name: format!("file-io.{tool}"),
            arguments: arguments.to_string(),
            extra: Map::new(),
        };
        self.host.execute(context, &call).await
    }

    async fn read(&self, path: &str) -> Result<Value, CallError> {
        self.call("read_file", json!({"path": path})).await.result.map(|it| it.value())
    }

    async fn write(&self, path: &str, content: &str) -> Result<Value, CallError> {
        let arguments = json!({"path": path, "content": content});
        self.call("write_file", arguments).await.result.map(|it| it.value())
    }
}

fn host_of(files: FileIo) -> ToolHost {
    use rand::SeedableRng;
    let host = ToolHost::new(rand::rngs::StdRng::seed_from_u64(1));
    let refused = host.offer("file-io", SourceKind::BuiltIn, tools(files));
    assert!(refused.is_empty(), "{refused:?}");
    host
}

#[tokio::test(start_paused = true)]
async fn written_file_reads_back_unchanged() {
    let place = Place::new();
    let error = place.read("notes.txt").await.expect_err("nothing is there");
    assert_eq!(error.message, "there is no file 'notes.txt' (the folder is empty)");
    let written = place.write("people/mira.md", "She lies. Ä").await;
    assert_eq!(written, Ok(json!({"path": "people/mira.md", "bytes": 12, "replaced": false})));
    let read = place.read("./people/mira.md").await.expect("text");
    assert_eq!((&read["content"], &read["bytes"]), (&json!("She lies. Ä"), &json!(12)));
    let again = place.write("people/mira.md", "").await.expect("written");
    assert_eq!(again["replaced"], true);
    assert_eq!(place.read("people/mira.md").await.expect("text")["content"], "");
    let names = fs::read_dir(place.path("people")).expect("a folder").map(|it| it.expect("a name"));
    let mut names: Vec<_> = names.map(|it| it.file_name().into_string().expect("text")).collect();
    names.sort();
    assert_eq!(names, [".glyphoxa-mira.md.1", "mira.md"], "nothing unfinished stays");
    let error = place.read("mira.md").await.expect_err("elsewhere");
    assert_eq!(error.message, "there is no file 'mira.md' (there is: people/)");
}

#[tokio::test(start_paused = true)]
async fn no_path_leads_out() {
    let place = Place::new();
    place.put("inside.txt", "in");
    fs::write(place.base.path().join("secret.txt"), "out").expect("written");
    fs::create_dir_all(place.base.path().join("files/other")).expect("a folder");
    fs::write(place.base.path().join("files/other/secret.txt"), "out").expect("written");
    let link = |to: &str, name: &str| {
        std::os::unix::fs::symlink(to, place.path(name)).expect("a link");
    };
    link("../../secret.txt", "up");
    link("/etc/passwd", "absolute");
    link("../other", "sibling");
    link("inside.txt", "fine");
    let absolute = place.base.path().join("secret.txt");
    for path in [
        "../../secret.txt",
        "a/../../../secret.txt",
        "/etc/passwd",
        absolute.to_str().expect("text"),
        "../other/secret.txt",
        "..",
        "people/..",
        "up",
        "absolute",
        "sibling/secret.txt",
        "",
        " ",
        "a\\b",
        "a\0b",
        "a\nb",
        "a/",
        "1/2/3/4/5/6/7/8/9",
    ] {
        let error = place.read(path).await.expect_err(path);
        assert_eq!(error.kind, CallErrorKind::InvalidArguments, "{path}: {error}");
        // A link is replaced by a file; its target is not touched.
        if !matches!(path, "up" | "absolute") {
            let error = place.write(path, "x").await.expect_err(path);
            assert_eq!(error.kind, CallErrorKind::InvalidArguments, "{path}: {error}");
        }
    }
    assert_eq!(place.read("fine").await.expect("inside")["content"], "in");
    place.write("up", "new").await.expect("the link is replaced");
    let secret = |name: &str| fs::read_to_string(place.base.path().join(name)).expect("text");
    assert_eq!(
        (secret("secret.txt"), secret("files/other/secret.txt")),
        ("out".into(), "out".into())
    );
    assert_eq!(place.read("up").await.expect("a file now")["content"], "new");
}

#[tokio::test(start_paused = true)]
async fn replaced_files_leave_eight_hidden_backups() {
    let place = Place::new();
    for version in 0..10 {
        place.write("notes.txt", &format!("version {version}")).await.expect("written");
    }
    let kept =
        |age: usize| fs::read_to_string(place.path(&format!(".glyphoxa-notes.txt.{age}"))).ok();
    assert_eq!(kept(1).as_deref(), Some("version 8"));
    assert_eq!((kept(8).as_deref(), kept(9)), (Some("version 1"), None));
    let error = place.read(".glyphoxa-notes.txt.1").await.expect_err("hidden");
    assert_eq!(error.kind, CallErrorKind::InvalidArguments);
}

#[tokio::test(start_paused = true)]
async fn only_text_of_a_sensible_size_is_read() {
    let place = Place::new();
    place.put("picture.png", [0x89, b'P', 0xff]);
    place.put("zero.txt", "a\0b");
    place.put("large.txt", vec![b'a'; (1 << 20) + 1]);
    place.put("full.txt", vec![b'a'; 1 << 20]);
    place.put("folder/x", "");
    for (path, says) in [
        ("picture.png", "no text"),
        ("zero.txt", "no text"),
        ("large.txt", "larger than 1 MiB"),
        ("folder", "is no file"),
        ("full.txt/x", "no folder"),
    ] {
        let error = place.read(path).await.expect_err(path);
        assert_eq!(error.kind, CallErrorKind::Tool, "{error}");
        assert!(error.message.contains(says), "{error}");
    }
    assert!(place.read("full.txt").await.is_ok());
}

// The paused clock does not move during disk access.
#[tokio::test(start_paused = true)]
async fn folder_fills_up() {
    let place = Place::new();
    let error = place.write("a", &"x".repeat((1 << 20) + 1)).await.expect_err("too long");
    assert_eq!(error.kind, CallErrorKind::InvalidArguments);
    for index in 0..998 {
        place.put(&format!("{index}"), "x");
    }
    let error = place.write("a/b/c", "x").await.expect_err("two folders and a file");
    assert!(error.message.contains("1,000 files"), "{error}");
    assert!(!place.path("a").exists(), "nothing was made");
    assert!(place.write("a/b", "x").await.is_ok());
    assert!(place.write("c", "x").await.is_err());
    assert!(place.write("5", "y").await.is_ok(), "what is there may be replaced");

    let place = Place::new();
    place.put("big", vec![b'a'; 64 << 20]);
    let error = place.write("b", "x").await.expect_err("no byte is left");
    assert!(error.message.contains("64 MiB"), "{error}");
    assert!(place.write("big", "small").await.is_ok(), "replacing it makes room");
    assert!(place.write("b", "x").await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn write_that_is_given_up_leaves_the_old_file() {
    let place = Place::new();
    place.put("a", "old");
    let folder = FolderOf::new(place.base.path().join("files"), "ravenford-act-1".into());
    assert_eq!(folder.write("a", "new", &|| true), Err(Fault::GivenUp));
    assert_eq!(place.read("a").await.expect("text")["content"], "old");
    assert_eq!(fs::read_dir(place.path("")).expect("a folder").count(), 1);
}

#[test]
fn campaigns_have_folders_of_their_own() {
    let files = FileIo { base: PathBuf::new(), read_only: false };
    let name = |name: &str| format!("{:?}", files.folder(&played(Owner::Local, name)));
    let of = |folder: &str| format!("{:?}", FolderOf::new(PathBuf::new(), folder.to_owned()));
    assert_eq!(name(""), of("default"));
    assert_eq!(name("../.."), of("default"));
    assert_eq!(name("Ravenford: Act 1!"), of("ravenford-act-1"));
    assert_eq!(name("Der Düstere Wald"), of("der-düstere-wald"));
    assert_eq!(name(&"x".repeat(300)), of(&"x".repeat(64)));
}

#[tokio::test(start_paused = true)]
async fn files_are_separate_per_owner() {
    let place = Place::new();
    let owners = [Owner::Local, Owner::Guild(1), Owner::Guild(2)];
    for owner in owners {
        let written = json!({"path": "notes.txt", "content": format!("{owner:?}")});
        let context = CallContext { scope: played(owner, CAMPAIGN), ..context() };
        place.call_in(&context, "write_file", written).await.result.expect("it is written");
    }
    for owner in owners {
        let context = CallContext { scope: played(owner, CAMPAIGN), ..context() };
        let read = place.call_in(&context, "read_file", json!({"path": "notes.txt"})).await;
        let read = read.result.expect("it is read").value();
        assert_eq!(read["content"], format!("{owner:?}"));
        let up = json!({"path": "../../ravenford-act-1/notes.txt"});
        assert!(place.call_in(&context, "read_file", up).await.result.is_err());
    }
    assert_eq!(
        place.read("notes.txt").await.expect("as before there were guilds")["content"],
        "Local"
    );
}

#[test]
fn read_only_folder_offers_no_write_tool() {
    let names = |read_only| {
        let files = FileIo { base: PathBuf::new(), read_only };
        tools(files).into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    assert_eq!(names(true), ["read_file"]);
    assert_eq!(names(false), ["read_file", "write_file"]);
}
