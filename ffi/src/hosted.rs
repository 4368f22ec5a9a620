//! Connections that speak the words of version 1 in both versions.

use libacp::host::Host;

use crate::border::{acp_slice, acp_status, change, read};
use crate::config::acp_config;

impl acp_config {
    /// What a connection of this configuration stands on.
    pub(crate) fn host(&self) -> Host {
        match &self.handlers {
            Some(handlers) => Host::new(self.core.clone(), handlers.iter().cloned()),
            None => Host::plain(self.core.clone()),
        }
    }
}

/// Sets whether the connection speaks the words of version 1, whichever version is agreed. If so, the host sends and
/// receives the methods and shapes of version 1 with the functions of a connection, and in version 2 the library turns
/// them into that version's: `session/load` into `session/resume` with a replay, `session/set_mode` into a config option,
/// and so on. A `session/prompt` is one request from its beginning to the end of the work on it, on both sides: an agent
/// answers it with a stop reason, and gets one prompt of a session at a time. Notifications that a client receives are left
/// as they are; a view (`acp_config_set_view`) shows both versions alike.
///
/// - `config`: the configuration
/// - `hosted`: whether to do so; false is the default. It matters only where `acp_config_set_versions` allows version 2
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_hosted(config: *mut acp_config, hosted: bool) -> acp_status {
    // SAFETY: `config` is as the header requires.
    unsafe {
        change(config, |config| {
            config.handlers = hosted.then(|| config.handlers.take().unwrap_or_default());
            Ok(())
        })
    }
}

/// Says that an agent that speaks the words of version 1 (`acp_config_set_hosted`, which this includes) serves a method,
/// named as in version 1. In version 2 every agent has to list and to resume sessions (rule CAP-09): for one that does not
/// serve `session/list`, `session/resume` or `session/load`, the library answers with the sessions that are open. Can be
/// called for several methods.
///
/// - `config`: the configuration
/// - `method`: the method's name
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_set_served(config: *mut acp_config, method: acp_slice) -> acp_status {
    // SAFETY: `config` and `method` are as the header requires.
    unsafe {
        change(config, |config| {
            let method = method.text()?;
            config.handlers.get_or_insert_default().push(method.to_owned());
            Ok(())
        })
    }
}

/// Gets whether the connection speaks the words of version 1 in both versions.
///
/// - `config`: the configuration
/// - `*out`: whether it does
/// - returns: `ACP_OK` or a general error
#[no_mangle]
pub unsafe extern "C" fn acp_config_hosted(config: *const acp_config, out: *mut bool) -> acp_status {
    // SAFETY: `config` and `out` are as the header requires.
    unsafe { read(config, out, |config| Some(config.handlers.is_some())) }
}
