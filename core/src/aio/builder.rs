//! What agents and clients build in the same way: their name and configuration, and handlers for any method.

/// The builder methods that agents and clients share, except for the sides and some sentences.
macro_rules! builder {
    (
        $Host:ident of $Side:ident beside $Peer:ident;
        $(#[$at_most:meta])* at_most
        $(#[$on:meta])* on
        $Session:ident through $Sessions:ident
    ) => {
        impl<H: Handlers> $Host<H> {
            /// Sets the name that users see.
            #[must_use]
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.setup.info.title = Some(title.into().into());
                self
            }

            /// Sets the versions of the protocol to speak: by default version 1 alone, in place of
            /// [`Config::versions`]. The peer decides which of them it is. Handlers and calls are those of version 1 in
            /// all versions; see [the module](super#versions).
            #[must_use]
            pub fn versions(mut self, versions: Versions) -> Self {
                self.setup.config.versions = versions;
                self
            }

            /// Sets the configuration of the connections, its [`versions`](Config::versions) included.
            /// [`timeout`](Config::timeout) and [`reminder`](Config::reminder) need a transport with a clock; see
            /// [`timed`](super::timed).
            #[must_use]
            pub fn config(mut self, config: Config) -> Self {
                self.setup.configure(config);
                self
            }

            $(#[$at_most])*
            #[must_use]
            pub fn at_most(mut self, requests: usize) -> Self {
                self.setup.most = requests.max(1);
                self
            }

            /// Sends the text of errors that escape a handler to the other side, as `details` in the error's data.
            /// Without this, the other side learns only that there was an internal error.
            #[must_use]
            pub fn expose_errors(mut self) -> Self {
                self.setup.expose = true;
                self
            }

            $(#[$on])*
            ///
            /// Handlers start in the order of the requests and run concurrently. When the peer cancels a request, its
            /// handler is dropped at its current await point.
            pub fn on<M, F>(self, handler: F) -> $Host<OnRequest<H, $Side, M, F>>
            where
                M: Family<Params<'static>: Request<'static> + SentBy<$Peer>>,
                F: AsyncFn(Received<$Side, M>) -> Result<Reply<M>, Failure>,
            {
                self.with(|rest| Handler::new(rest, Typed::NEW, handler))
            }

            /// Sets the handler for a notification, by the type of its params without a lifetime. Notifications are
            /// handled one after the other.
            pub fn on_notification<M, F>(self, handler: F) -> $Host<OnNotification<H, $Side, M, F>>
            where
                M: Family<Params<'static>: Notification<'static> + SentBy<$Peer>>,
                F: AsyncFn(Received<$Side, M>) -> Result<(), Failure>,
            {
                self.with(|rest| Handler::new(rest, Typed::NEW, handler))
            }

            /// Sets the handler for an extension's request, such as `_example.com/status`, or for any other method
            /// whose params and result are JSON.
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

            /// Sets the handler for an extension's notification.
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

            /// Sets a function that is called with each rule that the other side breaks.
            pub fn on_violation<F: Fn(&Violation)>(self, hook: F) -> $Host<Watching<H, Violations<F>>> {
                self.with(|rest| Watching::new(rest, Violations(hook)))
            }

            /// Sets a function that is called when the host's own messages do not follow a recommendation, and when a
            /// request is [overdue](Config::reminder).
            pub fn on_advice<F: Fn(&Advice)>(self, hook: F) -> $Host<Watching<H, Advices<F>>> {
                self.with(|rest| Watching::new(rest, Advices(hook)))
            }

            /// Sets a function that is called with responses to calls that had ended with
            /// [`Error::Timeout`](super::Error::Timeout) or had been dropped. Before that, what the response opened is
            /// released: a terminal, and a new session if the agent supports `session/close`.
            pub fn on_late_response<F: Fn(&Response)>(self, hook: F) -> $Host<Watching<H, LateResponses<F>>> {
                self.with(|rest| Watching::new(rest, LateResponses(hook)))
            }

            /// Sets a function that is called with the method and the error when a handler fails with anything but a
            /// [`RequestError`](super::RequestError), or when its result cannot be sent or only in part. Without one,
            /// such errors go to the standard error stream.
            pub fn on_error<F: Fn(&str, &Failure)>(self, hook: F) -> $Host<Watching<H, Failures<F>>> {
                self.with(|rest| Watching::new(rest, Failures(hook)))
            }

            /// Sets a function that is called with each session that has ended: closed, deleted, or lost with its
            /// connection; for an agent also one that a load or a resume has replaced. The data that was stored with it
            /// can still be read.
            pub fn on_session_end<F: Fn(&$Session)>(self, hook: F) -> $Host<Watching<H, $Sessions<F>>> {
                self.with(|rest| Watching::new(rest, $Sessions(hook)))
            }

            /// Sets a function that is called with each message in either direction. Messages contain prompts and
            /// files, so treat them as confidential. `.trace(|message| eprintln!("{message}"))` prints all of them.
            pub fn trace<F: Fn(&Traced<'_>)>(self, hook: F) -> $Host<Watching<H, Traces<F>>> {
                self.with(|rest| Watching::new(rest, Traces(hook)))
            }
        }
    };
}

pub(super) use builder;
