//! The client.

use std::path::{Path, PathBuf};

use libacp::aio::{Client, Failure, Handlers, PermissionRequest, Received};
use libacp::schema::v1::{self, CreateElicitationRequestMode, CreateElicitationResponseAction};
use libacp::schema::Raw;
use libacp::typed::ClientSide;
use libacp_tokio::{spawn, ClientExt, Files, Terminals};

use super::show::{joined, say, shown};
use super::{talk, EXTENSION, NAME, TITLE};

/// Starts the agent that the command line names, and takes it through all that it can do.
///
/// # Errors
/// The first thing that is not as it should be.
pub async fn run() -> Result<(), Failure> {
    let mut command = std::env::args_os().skip(1);
    let program = command.next().ok_or_else(|| Failure::new("expected PROGRAM [ARGUMENT ...]"))?;
    let client = client()?;
    let folder = Temporary::new()?;
    let path = folder.0.to_string_lossy().into_owned();
    spawn(program).args(command).run(&client, async |agent| talk::run(&agent, &path).await).await
}

fn client() -> Result<Client<impl Handlers>, Failure> {
    let client = Client::new(NAME, env!("CARGO_PKG_VERSION"))
        .title(TITLE)
        .capabilities(capabilities()?)
        .files(Files::new())
        .terminals(Terminals::new())
        .permission(permit)
        .on_update(async |got| {
            say(format!("meanwhile: {}", shown(&got)));
            Ok(())
        })
        .on::<fn(v1::CreateElicitationRequest), _>(async |got| Ok(elicited(&got).into()))
        .on_notification::<fn(v1::CompleteElicitationNotification), _>(async |_| {
            say("the page is done with");
            Ok(())
        })
        .on_extension("_libacp.dev/echo", async |got| Ok(got.into_params().into()))
        .on_extension_notification("_libacp.dev/note", async |got: Received<ClientSide, fn(Raw)>| {
            let note: serde_json::Value = got.parse()?;
            say(format!("note: {}", note["note"].as_str().unwrap_or_default()));
            Ok(())
        });
    Ok(client)
}

fn capabilities() -> Result<v1::ClientCapabilities<'static>, Failure> {
    let switches = v1::SessionConfigOptionsCapabilities::new().boolean(v1::BooleanConfigOptionCapabilities::new());
    let session = v1::ClientSessionCapabilities::new()
        .config_options(switches)
        .notices(v1::NoticeCapabilities::new())
        .compaction(v1::CompactionCapabilities::new());
    let elicitation = v1::ElicitationCapabilities::new()
        .form(v1::ElicitationFormCapabilities::new())
        .url(v1::ElicitationUrlCapabilities::new());
    let can = v1::ClientCapabilities::new()
        .auth(v1::AuthCapabilities::new().terminal(true))
        .elicitation(elicitation)
        .session(session)
        .meta(Raw::of(&serde_json::json!({EXTENSION: true}))?);
    Ok(can)
}

async fn permit(request: PermissionRequest) -> Result<Option<String>, Failure> {
    say(format!("may it? {}", joined(request.options.iter().map(|option| option.kind.to_string()))));
    Ok(request.allow())
}

fn elicited(request: &v1::CreateElicitationRequest<'_>) -> v1::CreateElicitationResponse<'static> {
    let message = &request.message;
    let mut accept = v1::ElicitationAcceptAction::new();
    match &request.mode {
        CreateElicitationRequestMode::Url(page) => say(format!("open a page? {message}: {}", page.url)),
        CreateElicitationRequestMode::Form(form) => {
            let fields = form.requested_schema.properties.iter().map(|(name, _)| name);
            say(format!("fill in? {message}: {}", joined(fields)));
            let blue = v1::ElicitationContentValue::String("blue".into());
            accept = accept.content([("colour", blue)].into_iter().collect());
        }
        _ => return v1::CreateElicitationResponse::new(CreateElicitationResponseAction::Decline),
    }
    v1::CreateElicitationResponse::new(accept.into())
}

/// A folder that is gone when this is.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> std::io::Result<Self> {
        let path = std::env::temp_dir().join(format!("full-client-{}", std::process::id()));
        std::fs::create_dir(&path)?;
        // Where temporary folders are links, the agent and the files of the client would not name the same one.
        path.canonicalize().map(Self)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let folder: &Path = &self.0;
        if let Err(problem) = std::fs::remove_dir_all(folder) {
            eprintln!("{}: {problem}", folder.display());
        }
    }
}
