//! What agents and clients have in common before they connect: a name and a configuration.

use std::sync::Arc;

use super::shared::Shared;
use super::transport::Transport;
use crate::connection::Versions;
use crate::framing::Framing;
use crate::schema::v1;
use crate::Config;

#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) info: v1::Implementation<'static>,
    pub(super) config: Config,
    pub(super) most: usize,
    /// Whether the text of errors is sent to the peer.
    pub(super) expose: bool,
    /// The configuration asks for a version that this layer does not support.
    pub(super) other_version: bool,
}

impl Host {
    pub(super) fn new(name: String, version: String, config: Config) -> Self {
        Host {
            info: v1::Implementation::new(name, version),
            most: config.limits.pending,
            config,
            expose: false,
            other_version: false,
        }
    }

    pub(super) fn configure(&mut self, config: Config) {
        let role = self.config.role;
        self.most = self.most.min(config.limits.pending);
        self.config = config;
        self.config.role = role;
        // This layer uses the types of version 1.
        self.other_version = std::mem::take(&mut self.config.versions) != Versions::only(1);
    }

    /// A connection at its start.
    pub(super) fn connection<T: Transport>(&self, _: &T) -> Arc<Shared> {
        let mut config = self.config.clone();
        if T::WHOLE {
            config.framing = Framing::Messages;
        }
        Shared::new(config, self.most, self.expose)
    }
}

/// Advertises a capability if there is a handler for it.
pub(super) fn offer<T: Default>(place: &mut Option<T>, there: bool) {
    if there {
        place.get_or_insert_with(T::default);
    }
}
