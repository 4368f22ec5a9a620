//! One request, from its head to the end of its response.

use std::error::Error;
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use libacp::http::{Header, Outgoing};

use super::shared::Shared;

/// Makes a request, and passes in what comes of it.
pub(super) async fn request(shared: Arc<Shared>, outgoing: Outgoing) {
    let exchange = outgoing.exchange;
    let Ok(request) = build(&shared, outgoing) else {
        return shared.with(|state| state.client.failed(exchange, false));
    };
    let response = match shared.dialer.http.request(request).await {
        Ok(response) => response,
        Err(problem) => {
            return shared.with(|state| {
                state.problem = Some(chain(&problem));
                state.client.failed(exchange, !problem.is_connect());
            });
        }
    };
    let headers: Vec<Header<'_>> =
        response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    shared.with(|state| state.response(exchange, response.status().as_u16(), &headers));
    let mut body = response.into_body();
    loop {
        // While nobody reads, the connection has to be known to be alive all the same.
        shared.room(|state| state.client.data(exchange, &[])).await;
        match body.frame().await {
            None => return shared.with(|state| state.client.end(exchange)),
            Some(Ok(frame)) => {
                if let Some(bytes) = frame.data_ref() {
                    shared.with(|state| state.client.data(exchange, bytes));
                }
            }
            Some(Err(_)) => return shared.with(|state| state.client.failed(exchange, true)),
        }
    }
}

fn build(shared: &Shared, outgoing: Outgoing) -> Result<http::Request<Full<Bytes>>, http::Error> {
    let uri = shared.address.to(&outgoing.target)?;
    let mut request = http::Request::builder().method(outgoing.method).uri(uri);
    for (name, value) in &outgoing.headers {
        request = request.header(&**name, value);
    }
    request.body(Full::from(outgoing.body))
}

/// What a library says of a problem, with its reasons.
pub(super) fn chain(problem: &dyn Error) -> String {
    let mut text = problem.to_string();
    let mut next = problem.source();
    while let Some(reason) = next {
        text += ": ";
        text += &reason.to_string();
        next = reason.source();
    }
    text
}
