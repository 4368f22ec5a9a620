//! The client with a server behind TLS, which is axum with the service mounted: over HTTP/2 and WebSocket, with a certificate
//! that is trusted, one that is not, and one of another name.
#![cfg(unix)]

#[path = "support/storyteller.rs"]
mod storyteller;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::serve::Listener;
use axum::Router;
use libacp::aio::{Client, Failure};
use libacp_tokio::http::{AgentService, Remote, ServerOptions};
use storyteller::storyteller;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use tokio_rustls::TlsAcceptor;

/// More than anything here takes.
const LIMIT: Duration = Duration::from_secs(60);

/// Connections of a listener, once they are encrypted.
struct Encrypted {
    tcp: TcpListener,
    tls: TlsAcceptor,
}

impl Listener for Encrypted {
    type Io = TlsStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        loop {
            let Ok((stream, address)) = self.tcp.accept().await else { continue };
            // Whoever does not trust the certificate ends the handshake.
            if let Ok(stream) = self.tls.accept(stream).await {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.tcp.local_addr()
    }
}

/// A server whose certificate is for this name; its port, and the certificate.
async fn served(name: &str) -> (u16, CertificateDer<'static>) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::Pkcs8(made.signing_key.serialize_der().into());
    let versions = ServerConfig::builder_with_provider(default_provider().into()).with_safe_default_protocol_versions();
    let mut config = versions.unwrap().with_no_client_auth().with_single_cert(vec![certificate.clone()], key).unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = tcp.local_addr().unwrap().port();
    let agent = Arc::new(storyteller!());
    let service = AgentService::new(ServerOptions::default(), move |pipe| {
        let agent = Arc::clone(&agent);
        async move { agent.serve(pipe).await }
    });
    let app = Router::new().route_service("/acp", service);
    let listener = Encrypted { tcp, tls: Arc::new(config).into() };
    tokio::spawn(async move { axum::serve(listener, app).await });
    (port, certificate)
}

/// What trusts this certificate and no other.
fn trusting(certificate: CertificateDer<'static>) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let versions = ClientConfig::builder_with_provider(default_provider().into()).with_safe_default_protocol_versions();
    versions.unwrap().with_root_certificates(roots).with_no_client_auth()
}

async fn turns(remote: Remote) -> Result<(), Failure> {
    let client = Client::new("test", "1.0").permission(async |request| Ok(request.allow()));
    let remote = remote.first(Duration::from_secs(2));
    let talking = remote.run(&client, async |agent| {
        let session = agent.new_session("/work").await?;
        assert_eq!(session.prompt("hello").read_text().await?, "You said: hello");
        assert_eq!(session.prompt("ask").read_text().await?, "allowed");
        Ok(())
    });
    timeout(LIMIT, Box::pin(talking)).await.expect("an end in time")
}

#[tokio::test]
async fn a_certificate_that_is_trusted() {
    let (port, certificate) = served("localhost").await;
    for scheme in ["https", "wss"] {
        let remote = Remote::new(&format!("{scheme}://localhost:{port}/acp")).unwrap();
        turns(remote.tls(trusting(certificate.clone()))).await.unwrap();
    }
}

#[tokio::test]
async fn one_that_is_not_says_so() {
    let (port, _) = served("localhost").await;
    let (_, other) = served("localhost").await;
    for scheme in ["https", "wss"] {
        let address = format!("{scheme}://localhost:{port}/acp");
        for remote in [Remote::new(&address).unwrap(), Remote::new(&address).unwrap().tls(trusting(other.clone()))] {
            let said = turns(remote).await.unwrap_err().to_string();
            assert!(said.contains("the server cannot be reached"), "{said}");
            assert!(said.contains("invalid peer certificate: "), "{said}");
        }
    }
}

#[tokio::test]
async fn one_of_another_name_says_so() {
    let (port, certificate) = served("agents.example.com").await;
    for scheme in ["https", "wss"] {
        let remote = Remote::new(&format!("{scheme}://localhost:{port}/acp")).unwrap();
        let said = turns(remote.tls(trusting(certificate.clone()))).await.unwrap_err().to_string();
        assert!(said.contains("certificate not valid for name \"localhost\""), "{said}");
    }
}
