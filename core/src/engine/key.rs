//! Request keys: how a host names one of many requests.

use std::fmt;

use super::pending::OpenRequest;
use crate::jsonrpc::Id;

/// Names a request by its id, by its serial, or by both.
///
/// Created from an id (`&Id`), a serial (`u64`), an [event](crate::connection::Request) or an [`OpenRequest`]. A peer
/// may reuse an id once its request has been answered; the id then names the later request. A serial is never reused,
/// so a host that keeps requests for later should name them by serial or event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestKey<'a> {
    pub(crate) id: Option<&'a Id>,
    pub(crate) serial: Option<u64>,
}

impl<'a> From<&'a Id> for RequestKey<'a> {
    fn from(id: &'a Id) -> Self {
        RequestKey { id: Some(id), serial: None }
    }
}

impl From<u64> for RequestKey<'_> {
    fn from(serial: u64) -> Self {
        RequestKey { id: None, serial: Some(serial) }
    }
}

impl<'a> From<(&'a Id, u64)> for RequestKey<'a> {
    fn from((id, serial): (&'a Id, u64)) -> Self {
        RequestKey { id: Some(id), serial: Some(serial) }
    }
}

impl<'a> From<&'a OpenRequest> for RequestKey<'a> {
    fn from(request: &'a OpenRequest) -> Self {
        (&request.id, request.serial).into()
    }
}

impl fmt::Display for RequestKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.id, self.serial) {
            (Some(id), _) => write!(f, "the id {id}"),
            (None, serial) => write!(f, "the number {}", serial.unwrap_or_default()),
        }
    }
}
