//! Connections: TCP, with TLS where the address says so.

use std::io;

#[cfg(feature = "tls")]
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

use super::{Address, Remote};

/// A connection of a WebSocket.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

#[cfg(feature = "tls")]
type Connector = hyper_rustls::HttpsConnector<HttpConnector>;
#[cfg(not(feature = "tls"))]
type Connector = HttpConnector;

pub(super) type Http = Client<Connector, Full<Bytes>>;

/// What opens connections.
pub(super) struct Dialer {
    pub(super) http: Http,
    #[cfg(feature = "tls")]
    tls: Arc<tokio_rustls::rustls::ClientConfig>,
}

impl Dialer {
    pub(super) fn new(remote: &Remote) -> io::Result<Self> {
        let mut tcp = HttpConnector::new();
        tcp.set_nodelay(true);
        tcp.enforce_http(false);
        let mut client = Client::builder(TokioExecutor::new());
        client.http2_only(remote.http2 && !remote.address.secure);
        #[cfg(feature = "tls")]
        {
            let tls = match &remote.tls {
                Some(config) => Arc::clone(config),
                None => system(remote.address.secure)?,
            };
            let mut config = (*tls).clone();
            config.alpn_protocols.clear();
            let tls = Arc::new(config.clone());
            let https = hyper_rustls::HttpsConnectorBuilder::new().with_tls_config(config).https_or_http();
            Ok(Dialer { http: client.build(https.enable_all_versions().wrap_connector(tcp)), tls })
        }
        #[cfg(not(feature = "tls"))]
        if remote.address.secure {
            Err(io::Error::new(io::ErrorKind::Unsupported, "TLS needs the feature `tls` of libacp-tokio"))
        } else {
            Ok(Dialer { http: client.build(tcp) })
        }
    }

    /// A connection for a WebSocket.
    pub(super) async fn dial(&self, address: &Address) -> io::Result<Box<dyn Stream>> {
        let tcp = TcpStream::connect((address.host(), address.port())).await?;
        tcp.set_nodelay(true)?;
        if !address.secure {
            return Ok(Box::new(tcp));
        }
        self.encrypted(address, tcp).await
    }

    #[cfg(feature = "tls")]
    async fn encrypted(&self, address: &Address, tcp: TcpStream) -> io::Result<Box<dyn Stream>> {
        use tokio_rustls::rustls::pki_types::ServerName;

        let name = ServerName::try_from(address.host().to_owned()).map_err(io::Error::other)?;
        let connector = tokio_rustls::TlsConnector::from(Arc::clone(&self.tls));
        Ok(Box::new(connector.connect(name, tcp).await?))
    }

    #[cfg(not(feature = "tls"))]
    #[expect(clippy::unused_async, reason = "with TLS, it waits")]
    async fn encrypted(&self, _: &Address, _: TcpStream) -> io::Result<Box<dyn Stream>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The settings that trust whom the system trusts; nobody, where nobody has to be trusted.
#[cfg(feature = "tls")]
fn system(secure: bool) -> io::Result<Arc<tokio_rustls::rustls::ClientConfig>> {
    use hyper_rustls::ConfigBuilderExt;
    use tokio_rustls::rustls::crypto::ring::default_provider;
    use tokio_rustls::rustls::{ClientConfig, RootCertStore};

    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    let builder =
        if secure { builder.with_native_roots()? } else { builder.with_root_certificates(RootCertStore::empty()) };
    Ok(Arc::new(builder.with_no_client_auth()))
}
