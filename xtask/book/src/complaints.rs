//! What mdBook says while it builds: it warns of HTML that does not close and of snippets that are not there, and goes on.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Result;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// The warnings and errors so far.
#[derive(Clone, Default)]
pub(crate) struct Complaints(Arc<Mutex<Vec<String>>>);

/// Collects the complaints of this process from now on.
pub(crate) fn listen() -> Result<Complaints> {
    let complaints = Complaints::default();
    tracing::subscriber::set_global_default(complaints.clone())?;
    Ok(complaints)
}

impl Complaints {
    /// What has come since the last time.
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Subscriber for Complaints {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() <= Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.0);
    }

    // Spans are not enabled.
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() == "message" {
            // Writing to a String does not fail.
            let _ = write!(self.0, "{value:?}");
        }
    }
}
