//! Lines that the person types, read in a thread of its own, for reading blocks.
use std::io::{self, stdin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use nix::sys::termios::{FlushArg, tcflush};
use tokio::sync::mpsc;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    Line(String),
    /// The end of the input: nobody is there, or Ctrl-D.
    End,
}

pub struct Keyboard {
    typed: mpsc::UnboundedReceiver<Typed>,
    heard: mpsc::UnboundedSender<Typed>,
    reading: Arc<AtomicBool>,
}

impl Default for Keyboard {
    fn default() -> Self {
        let (heard, typed) = mpsc::unbounded_channel();
        Self { typed, heard, reading: Arc::default() }
    }
}

impl Keyboard {
    /// Begins to read. What was typed before is thrown away: it was no answer to what is asked now.
    pub fn listen(&mut self) {
        // Fails where it is no terminal; then nobody is asked.
        let _ = tcflush(stdin(), FlushArg::TCIFLUSH);
        while self.typed.try_recv().is_ok() {}
        if self.reading.swap(true, SeqCst) {
            return;
        }
        let (heard, reading) = (self.heard.clone(), Arc::clone(&self.reading));
        std::thread::spawn(move || {
            while let Some(line) = read() {
                if heard.send(Typed::Line(line)).is_err() {
                    return;
                }
            }
            reading.store(false, SeqCst);
            let _ = heard.send(Typed::End);
        });
    }

    pub async fn next(&mut self) -> Typed {
        match self.typed.recv().await {
            Some(typed) => typed,
            None => std::future::pending().await,
        }
    }
}

fn read() -> Option<String> {
    let mut line = String::new();
    let read: io::Result<usize> = stdin().read_line(&mut line);
    read.is_ok_and(|read| read > 0).then_some(line)
}
