//! What is built alike on both sides: what all hosts say of themselves, and the handlers that any method can have.

/// The methods of an agent's or a client's builder that do not depend on which of them it is, but for the sides and some
/// sentences.
macro_rules! builder {
    (
        $Host:ident of $Side:ident beside $Peer:ident;
        $(#[$at_most:meta])* at_most
        $(#[$on:meta])* on
        $Session:ident through $Sessions:ident
    ) => {
        impl<H: Handlers> $Host<H> {
            /// The name that a user is to see.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.host.info.title = Some(title.into().into());
                self
            }

            /// The configuration of its connections. This layer speaks version 1 of the protocol and refuses other
            /// [`versions`](Config::versions); [`timeout`](Config::timeout) and [`reminder`](Config::reminder) need a
            /// transport with a clock, see [`timed`](super::timed).
            #[must_use]
            pub fn config(mut self, config: Config) -> Self {
                self.host.configure(config);
                self
            }

            $(#[$at_most])*
            #[must_use]
            pub fn at_most(mut self, requests: usize) -> Self {
                self.host.most = requests.max(1);
                self
            }

            /// Tells the other side the text of errors that escape a handler, as `details` in the data of the answer, where
            /// it learns only that there was an internal error otherwise.
            #[must_use]
            pub fn expose_errors(mut self) -> Self {
                self.host.expose = true;
                self
            }

            $(#[$on])*
            ///
            /// Requests are handled at the same time, each begun in the order in which they came. One that the peer
            /// cancels is dropped where it waits.
            pub fn on<M, F>(self, handler: F) -> $Host<OnRequest<H, $Side, M, F>>
            where
                M: Family<Params<'static>: Request<'static> + SentBy<$Peer>>,
                F: AsyncFn(Received<$Side, M>) -> Result<Reply<M>, Failure>,
            {
                self.with(|rest| Handler::new(rest, Typed::NEW, handler))
            }

            /// The handler of a notification, by the type of its params without a lifetime. Notifications are handled
            /// one after the other.
            pub fn on_notification<M, F>(self, handler: F) -> $Host<OnNotification<H, $Side, M, F>>
            where
                M: Family<Params<'static>: Notification<'static> + SentBy<$Peer>>,
                F: AsyncFn(Received<$Side, M>) -> Result<(), Failure>,
            {
                self.with(|rest| Handler::new(rest, Typed::NEW, handler))
            }

            /// The handler of an extension's request, such as `_example.com/status`, or of any other method whose params
            /// and result are to stay JSON.
            pub fn on_extension<F>(
                self,
                method: impl Into<Cow<'static, str>>,
                handler: F,
            ) -> $Host<Handler<H, Extension<$Side, true>, F>>
            where
                F: AsyncFn(Received<$Side, fn(Raw)>) -> Result<Reply<fn(Raw)>, Failure>,
            {
                self.with(|rest| Handler::new(rest, Extension::new(method.into()), handler))
            }

            /// The handler of an extension's notification.
            pub fn on_extension_notification<F>(
                self,
                method: impl Into<Cow<'static, str>>,
                handler: F,
            ) -> $Host<Handler<H, Extension<$Side, false>, F>>
            where
                F: AsyncFn(Received<$Side, fn(Raw)>) -> Result<(), Failure>,
            {
                self.with(|rest| Handler::new(rest, Extension::new(method.into()), handler))
            }

            /// Is called with each rule that the other side breaks.
            pub fn on_violation<F: Fn(&Violation)>(self, hook: F) -> $Host<Watching<H, Violations<F>>> {
                self.with(|rest| Watching::new(rest, Violations(hook)))
            }

            /// Is called with what is odd about the host's own messages, and with requests that are
            /// [overdue](Config::reminder).
            pub fn on_advice<F: Fn(&Advice)>(self, hook: F) -> $Host<Watching<H, Advices<F>>> {
                self.with(|rest| Watching::new(rest, Advices(hook)))
            }

            /// Is called with answers to calls that had ended with [`Error::Timeout`](super::Error::Timeout) or had been
            /// dropped. What such an answer opens is given back before: a terminal is released, and a new session closed
            /// if the agent can close sessions.
            pub fn on_late_response<F: Fn(&Response)>(self, hook: F) -> $Host<Watching<H, LateResponses<F>>> {
                self.with(|rest| Watching::new(rest, LateResponses(hook)))
            }

            /// Is called with the method and the error when a handler fails other than with a
            /// [`RequestError`](super::RequestError), or what it returned cannot be sent, or was sent in part. Without this
            /// hook, that goes to the standard error stream; one that does nothing silences it.
            pub fn on_error<F: Fn(&str, &Failure)>(self, hook: F) -> $Host<Watching<H, Failures<F>>> {
                self.with(|rest| Watching::new(rest, Failures(hook)))
            }

            /// Is called with each session that is over: closed, deleted, or gone with its connection. What was kept with
            /// it can still be read.
            pub fn on_session_end<F: Fn(&$Session)>(self, hook: F) -> $Host<Watching<H, $Sessions<F>>> {
                self.with(|rest| Watching::new(rest, $Sessions(hook)))
            }

            /// Is called with each message that crosses the wire, in either direction: prompts and files too, so keep it
            /// to yourself. `.trace(|message| eprintln!("{message}"))` shows all of them.
            pub fn trace<F: Fn(&Traced<'_>)>(self, hook: F) -> $Host<Watching<H, Traces<F>>> {
                self.with(|rest| Watching::new(rest, Traces(hook)))
            }
        }
    };
}

pub(super) use builder;
