//! A `WebSocket` to the page: a half that reads, and one that several threads can write to.

use std::error::Error;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};

use tungstenite::handshake::machine::TryParse;
use tungstenite::handshake::server::{create_response, write_response, Request};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// Bytes of one message, as in the core's limits.
pub(crate) const MESSAGE: usize = 32 << 20;

/// The writing half of a socket.
pub(crate) struct Stream(Arc<TcpStream>);

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

/// The reading half of a socket. What tungstenite would answer by itself is answered by the writing half.
pub(crate) struct Reading(Arc<TcpStream>);

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Reading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The page, for those who tell it something.
#[derive(Clone)]
pub(crate) struct Page(Arc<Mutex<WebSocket<Stream>>>);

impl Page {
    pub(crate) fn send(&self, message: Message) -> tungstenite::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).send(message)
    }

    pub(crate) fn close(&self, code: CloseCode, reason: &str) {
        // A page that is gone needs no reason.
        let _ = self.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
    }
}

/// What the page says next: a text, or nothing once it has gone.
pub(crate) fn hear(reading: &mut WebSocket<Reading>, page: &Page) -> Option<String> {
    loop {
        match reading.read() {
            Ok(Message::Text(text)) => return Some(text.as_str().to_owned()),
            Ok(Message::Ping(bytes)) => page.send(Message::Pong(bytes)).ok()?,
            Ok(Message::Close(_)) | Err(_) => return None,
            Ok(_) => {}
        }
    }
}

/// Answers a request for a WebSocket, with its two halves.
pub(crate) fn accept(stream: &Arc<TcpStream>, head: &[u8]) -> Result<(Page, WebSocket<Reading>), Box<dyn Error>> {
    let (length, request) = Request::try_parse(head)?.ok_or("the head is not whole")?;
    write_response(&**stream, &create_response(&request)?)?;
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
    let writing = WebSocket::from_raw_socket(Stream(Arc::clone(stream)), Role::Server, Some(config));
    let page = Page(Arc::new(Mutex::new(writing)));
    let reading = Reading(Arc::clone(stream));
    let reading = WebSocket::from_partially_read(reading, head[length..].to_vec(), Role::Server, Some(config));
    Ok((page, reading))
}
