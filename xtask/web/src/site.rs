//! One request: who may ask, and who answers. The page's files are tower-http's, its agent is libacp-tokio's.

use std::convert::Infallible;
use std::error::Error;
use std::path::PathBuf;

use http::header::{self, HeaderName, HeaderValue};
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, Uri};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use libacp_tokio::http::AgentService;
use tower_http::services::ServeDir;
use tower_service::Service;

use crate::commands::Commands;
use crate::machine;
use crate::visitors::Visit;

/// What every connection needs to know.
pub(crate) struct Site {
    /// First part of every path.
    pub(crate) token: String,
    /// Values of `Host` that are this server, and with `http://` before them its origins.
    pub(crate) hosts: [String; 2],
    /// The page.
    pub(crate) page: ServeDir,
    /// Its agent.
    pub(crate) agent: AgentService,
    /// The commands that run for agents.
    pub(crate) commands: Commands,
    /// Where sessions work.
    pub(crate) cwd: String,
    /// The folder whose files agents may use, and where their commands may begin, as far as the user agrees; without one
    /// they get neither.
    pub(crate) root: Option<PathBuf>,
}

type Body = UnsyncBoxBody<hyper::body::Bytes, Box<dyn Error + Send + Sync>>;

/// What a document may do. The page makes its elements by itself: no text becomes HTML or a script.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; \
    trusted-types 'none'";

/// What is said with every answer of the page's files.
const ALWAYS: [(HeaderName, &str); 2] =
    [(header::CACHE_CONTROL, "no-store"), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];

/// Serves a request.
pub(crate) async fn serve(site: &'static Site, visit: &Visit, request: Request<Incoming>) -> Response<Body> {
    let Some(path) = site.inside(&request) else { return answer(StatusCode::NOT_FOUND, "text/plain", "") };
    if !visit.let_stay() {
        return answer(StatusCode::SERVICE_UNAVAILABLE, "text/plain", "");
    }
    let is_get = request.method() == Method::GET;
    match &*path {
        "agent" | "machine" if is_upgrade(&request) && !site.is_own(&request) => forbidden(),
        // What is no WebSocket, the service itself judges by its origin.
        "agent" => {
            let Ok(response) = site.agent.clone().call(request).await;
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        }
        "machine" => match &site.root {
            Some(root) if is_upgrade(&request) => machine::accept(site, root, request).map(|()| empty()),
            _ => forbidden(),
        },
        "config.json" if is_get => {
            let body = serde_json::json!({ "cwd": site.cwd, "root": site.root }).to_string();
            answer(StatusCode::OK, "application/json", body)
        }
        _ => site.file(&path, request).await,
    }
}

impl Site {
    /// The path of a request behind the token, if it is for this server.
    fn inside(&self, request: &Request<Incoming>) -> Option<String> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        // A name that leads here from another site is no name of this server's. Who says two hosts means that each of two
        // readers takes another one; so does who names one in the target as well.
        let host = hosts.next().filter(|_| hosts.next().is_none() && request.uri().authority().is_none())?;
        let known = self.hosts.iter().any(|known| host == known.as_str());
        let path = request.uri().path().strip_prefix('/')?.strip_prefix(&*self.token)?.strip_prefix('/')?;
        known.then(|| path.to_owned())
    }

    /// Whether a request comes from this server's page.
    fn is_own(&self, request: &Request<Incoming>) -> bool {
        let origin = request.headers().get(header::ORIGIN).and_then(|origin| origin.to_str().ok());
        let origin = origin.and_then(|origin| origin.strip_prefix("http://"));
        origin.is_some_and(|origin| self.hosts.iter().any(|host| host == origin))
    }

    /// A file of the page.
    async fn file(&self, path: &str, mut request: Request<Incoming>) -> Response<Body> {
        let Ok(target) = PathAndQuery::try_from(format!("/{path}")) else {
            return answer(StatusCode::NOT_FOUND, "text/plain", "");
        };
        *request.uri_mut() = Uri::from(target);
        let Ok(response) = self.page.clone().call(request).await;
        dressed(response.map(|body| body.map_err(Into::into).boxed_unsync()))
    }
}

/// Whether a request wants a WebSocket.
fn is_upgrade<B>(request: &Request<B>) -> bool {
    let upgrade = request.headers().get(header::UPGRADE);
    upgrade.is_some_and(|upgrade| upgrade.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

fn forbidden() -> Response<Body> {
    answer(StatusCode::FORBIDDEN, "text/plain", "")
}

fn empty() -> Body {
    Full::default().map_err(|never: Infallible| match never {}).boxed_unsync()
}

fn answer(status: StatusCode, kind: &'static str, body: impl Into<String>) -> Response<Body> {
    let body = Full::from(body.into()).map_err(|never: Infallible| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    dressed(response)
}

/// Adds what is said with every answer, and to documents what they may do.
fn dressed(mut response: Response<Body>) -> Response<Body> {
    let kind = response.headers().get(header::CONTENT_TYPE).map_or(&b""[..], HeaderValue::as_bytes);
    // Scripts, styles and data are bound by the policy of the document that they are loaded for.
    let is_document = kind.starts_with(b"text/html") || kind.starts_with(b"image/svg");
    let headers = response.headers_mut();
    // Nothing is kept, so nothing is asked for again or in parts, and no copy is chosen by what it was made for.
    for name in [header::LAST_MODIFIED, header::ACCEPT_RANGES, header::VARY] {
        headers.remove(name);
    }
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if is_document {
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    }
    response
}
