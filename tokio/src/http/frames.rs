//! The frames of a WebSocket, as both sides have them.

use std::future::poll_fn;
use std::task::{ready, Context, Poll};

use futures::stream::SplitSink;
use futures::SinkExt;
use libacp::http::Frame;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

/// Most sockets are silent, and there may be many.
const BUFFER: usize = 4096;

/// The settings of a socket whose messages have at most so many bytes.
pub(super) fn config(limit: usize) -> WebSocketConfig {
    let mut config = WebSocketConfig::default();
    config.read_buffer_size = BUFFER;
    config.write_buffer_size = 4 * BUFFER;
    config.max_message_size = Some(limit);
    config.max_frame_size = Some(limit);
    config
}

pub(super) fn message(frame: Frame) -> Message {
    match frame {
        Frame::Text(text) => Message::text(text),
        Frame::Ping => Message::Ping(bytes::Bytes::new()),
        Frame::Close(code, reason) => {
            Message::Close(Some(CloseFrame { code: code.number().into(), reason: reason.into() }))
        }
    }
}

/// What has frames to write.
pub(super) trait Frames {
    /// The next one; `None` once there is none any more.
    fn poll_frame(&self, cx: &Context<'_>) -> Poll<Option<Frame>>;
}

/// Writes frames until there are no more, or the last one was written. `Err` if the socket broke.
pub(super) async fn write<S>(
    frames: &impl Frames,
    output: &mut SplitSink<WebSocketStream<S>, Message>,
) -> Result<(), ()>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut unflushed = false;
    loop {
        // What was fed goes out once there is nothing to add to it.
        let next = poll_fn(|cx| match frames.poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(Ok(frame)),
            Poll::Pending if !unflushed => Poll::Pending,
            Poll::Pending => {
                ready!(output.poll_flush_unpin(cx)).map_err(drop)?;
                unflushed = false;
                Poll::Pending
            }
        });
        let Some(frame) = next.await? else { return Ok(()) };
        let last = matches!(frame, Frame::Close(..));
        output.feed(message(frame)).await.map_err(drop)?;
        unflushed = true;
        if last {
            drop(output.flush().await);
            return Ok(());
        }
    }
}
