//! A small site on loopback that counts what it received.
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A site; it ends with the test's runtime.
pub struct Site {
    port: u16,
    received: Arc<Mutex<Vec<String>>>,
}

impl Site {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received: Arc<Mutex<Vec<String>>> = Arc::default();
        let book = Arc::clone(&received);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&book)));
            }
        });
        Self { port, received }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The same site under another name: another site to the browser.
    pub fn other_url(&self, path: &str) -> String {
        format!("http://localhost:{}{path}", self.port)
    }

    /// How often `line`, such as `POST /post`, was received.
    pub fn count(&self, line: &str) -> usize {
        self.received.lock().unwrap().iter().filter(|received| *received == line).count()
    }
}

async fn serve(stream: TcpStream, book: Arc<Mutex<Vec<String>>>) {
    let mut stream = BufReader::new(stream);
    loop {
        let mut request = String::new();
        match stream.read_line(&mut request).await {
            Ok(0) => return,
            Ok(_) => {}
            // Someone speaks TLS.
            Err(_) => {
                let _ = stream.write_all(respond("400 Bad Request", "", "").as_bytes()).await;
                return;
            }
        }
        let mut length = 0;
        loop {
            let mut header = String::new();
            if stream.read_line(&mut header).await.unwrap_or(0) <= 2 {
                break;
            }
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        if stream.read_exact(&mut body).await.is_err() {
            return;
        }
        let mut words = request.split(' ');
        let (method, path) = (words.next().unwrap(), words.next().unwrap_or_default());
        let path = path.split('?').next().unwrap();
        book.lock().unwrap().push(format!("{method} {path}"));
        let Some(answer) = answer(method, path).await else { return };
        if stream.write_all(answer.as_bytes()).await.is_err() {
            return;
        }
    }
}

async fn answer(method: &str, path: &str) -> Option<String> {
    let page = |title: &str, body: &str| {
        respond("200 OK", "", &format!("<!doctype html><title>{title}</title>{body}"))
    };
    Some(match (method, path) {
        ("POST", _) => page("posted", "thank you"),
        (_, "/404") => respond("404 Not Found", "", "<title>missing</title>no"),
        (_, "/empty404") => respond("404 Not Found", "", ""),
        (_, "/204") => respond("204 No Content", "", ""),
        (_, "/302") => respond("302 Found", "location: /plain\r\n", ""),
        (_, "/cookies") => respond(
            "200 OK",
            "set-cookie: stays=1; Max-Age=86400; HttpOnly; SameSite=Lax\r\n\
             set-cookie: goes=2; Path=/cookies\r\n",
            "<title>cookies</title>",
        ),
        (_, "/download") => {
            respond("200 OK", "content-disposition: attachment; filename=a.txt\r\n", "a")
        }
        (_, "/js") => page("js", "<script>location.href = '/plain'</script>"),
        (_, "/timer") => page("timer", "<script>setTimeout(() => location = '/plain')</script>"),
        (_, "/meta") => page("meta", "<meta http-equiv=refresh content='0;url=/plain'>"),
        (_, "/hanging-image") => page("image", "<p>here</p><img src=/never>"),
        (_, "/hanging-script") => page("script", "<p>here</p><script defer src=/never></script>"),
        (_, "/alert") => page("alert", "<script>alert('hello')</script>after"),
        (_, "/links") => page(
            "links",
            "<style>a, button, input { position: fixed; left: 0; width: 200px; height: 20px }</style>\
             <a style='top: 0' href=/plain>plain</a>\
             <a style='top: 30px' href=http://127.0.0.1:9/>dead</a>\
             <a style='top: 60px' href=/plain target=_blank>new</a>\
             <button style='top: 90px' onclick='alert(1); window.after = 1'>alert</button>\
             <form method=post action=/post><input style='top: 120px' name=q></form>\
             <a style='top: 150px' href=mailto:x@y.test>mail</a>\
             <a style='top: 180px' href=/slow>slow</a>",
        ),
        (_, "/sends") => page("sends", "<script>fetch('/from-frame', { method: 'POST' })</script>"),
        (_, "/worker.js") => respond_js("fetch('/from-worker', { method: 'POST' })"),
        (_, "/frames") => page("frames", "<p id=here>frames</p>"),
        (_, "/slow") => {
            tokio::time::sleep(Duration::from_millis(700)).await;
            page("slow", "slow")
        }
        (_, "/never") => std::future::pending().await,
        (_, "/nothing") => return None,
        _ => page(path, "plain"),
    })
}

fn respond_js(script: &str) -> String {
    respond("200 OK", "", script).replace("text/html", "text/javascript")
}

fn respond(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n{headers}content-length: \
         {}\r\n\r\n{body}",
        body.len()
    )
}
