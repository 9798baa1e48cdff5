//! Serves a folder of pages on this machine, until it is dropped.
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::JoinHandle;

pub struct Pages {
    at: SocketAddr,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pages {
    pub fn of(folder: &Path) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (at, over) = (listener.local_addr()?, Arc::new(AtomicBool::new(false)));
        let (folder, ends) = (folder.to_owned(), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming().flatten().take_while(|_| !ends.load(Relaxed)) {
                let folder = folder.clone();
                // A browser opens connections ahead and says nothing on them.
                std::thread::spawn(move || answer(stream, &folder));
            }
        });
        Ok(Self { at, over, thread: Some(thread) })
    }

    /// Returns the address of a page, such as `form`.
    pub fn url(&self, page: &str) -> String {
        format!("http://{}/{page}.html", self.at)
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        // Wakes it up, so that it sees that it is over.
        drop(TcpStream::connect(self.at));
        if let Some(thread) = self.thread.take() {
            // A panic in it was printed when it happened.
            let _ = thread.join();
        }
    }
}

fn answer(stream: TcpStream, folder: &Path) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let mut request = String::new();
    stream.read_line(&mut request).ok()?;
    let mut line = String::new();
    while stream.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1)?.trim_start_matches('/').split('?').next()?;
    let file: PathBuf = folder.join(Path::new(path).file_name().unwrap_or_default());
    let (status, body) = match std::fs::read(file) {
        Ok(body) => ("200 OK", body),
        Err(_) => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.get_mut().write_all(head.as_bytes()).ok()?;
    stream.get_mut().write_all(&body).ok()
}
