//! What agents and clients have in common before they connect: a name and a configuration.

use std::sync::Arc;

use super::handlers::Handlers;
use super::shared::Shared;
use super::transport::Transport;
use crate::framing::Framing;
use crate::host::Host;
use crate::schema::v1;
use crate::Config;

/// The version in whose types hosts speak of `initialize`. Which one is agreed on is the connection's matter.
pub(super) const FIRST: v1::ProtocolVersion = v1::ProtocolVersion(1);

#[derive(Debug, Clone)]
pub(super) struct Setup {
    pub(super) info: v1::Implementation<'static>,
    pub(super) config: Config,
    pub(super) most: usize,
    /// Whether the text of errors is sent to the peer.
    pub(super) expose: bool,
    /// Whether chunks are merged while they wait for the transport.
    pub(super) merges: bool,
}

impl Setup {
    pub(super) fn new(name: String, version: String, config: Config) -> Self {
        let (info, most) = (v1::Implementation::new(name, version), config.limits.pending);
        Setup { info, most, config, expose: false, merges: false }
    }

    pub(super) fn configure(&mut self, config: Config) {
        let role = self.config.role;
        self.most = self.most.min(config.limits.pending);
        self.config = config;
        self.config.role = role;
    }

    /// A connection at its start, for these handlers.
    pub(super) fn connection<T: Transport>(&self, handlers: &impl Handlers, _: &T) -> Arc<Shared> {
        let mut config = self.config.clone();
        if T::WHOLE {
            config.framing = Framing::Messages;
        }
        let mut methods = Vec::new();
        handlers.each(&mut |method, request| {
            if request {
                methods.push(method.to_owned());
            }
        });
        let mut host = Host::new(config, methods);
        host.merge_chunks(self.merges);
        host.hold_prompts();
        Shared::new(host, self.most, self.expose)
    }
}
