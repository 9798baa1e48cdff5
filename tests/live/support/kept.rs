//! One kept connection to the daemon: commands without the cost of a process each, so that what
//! takes time is the daemon's.
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use strawmanus::cli::arguments::Arguments;
use strawmanus::config::environment::Environment;
use strawmanus::config::home::Home;
use strawmanus::config::span::Span;
use strawmanus::control::build::Build;
use strawmanus::control::client::new_request_id;
use strawmanus::control::protocol::{Ask, Context, Line, PROTOCOL, Request};

use crate::support::shell::{Done, now};

/// How long a command may take that says nothing else with `--timeout`.
const PATIENCE: Span = Span(Duration::from_secs(30));
/// A daemon that is silent for so long fails the test.
const SILENCE: Duration = Duration::from_secs(120);

pub struct Kept {
    stream: BufReader<UnixStream>,
    build: Build,
}

impl Kept {
    /// Connects to the daemon of a home folder, which must run.
    pub fn to(home: &Path) -> Self {
        let socket = Home::at(home.to_owned()).socket();
        let stream = UnixStream::connect(&socket).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        let mut stream = BufReader::new(stream);
        let Line::Hello(hello) = read(&mut stream).expect("a greeting") else {
            panic!("the daemon does not greet")
        };
        Self { stream, build: hello.build.expect("a build that can be read") }
    }

    /// Carries one command out. Fails the test when it is no command; a daemon that hangs up is an
    /// answer with exit code -1.
    pub fn run(&mut self, words: &[&str]) -> Done {
        let began = now();
        let line: Vec<OsString> = ["strawmanus"].iter().chain(words).map(Into::into).collect();
        let Arguments { globals, verb } = Arguments::read(&line).expect("a command");
        let deadline = Some(globals.timeout.unwrap_or(PATIENCE));
        let environment = Environment::of_process();
        let context = Context { folder: "/".into(), environment, terminal: false };
        let (id, build) = (new_request_id(), self.build.clone());
        let request = Request { v: PROTOCOL, id, build, verb, globals, context, deadline };
        let ask = serde_json::to_string(&Ask::Request(Box::new(request))).unwrap();
        let sent = writeln!(self.stream.get_mut(), "{ask}");
        let mut done = Done { exit: -1, ..Done::default() };
        while sent.is_ok() {
            match read(&mut self.stream) {
                Some(Line::Answer(answer)) => {
                    (done.exit, done.json) = (i32::from(answer.exit), answer.envelope());
                    break;
                }
                Some(Line::Progress { .. }) => {}
                Some(other) => panic!("the daemon said {other:?}"),
                None => break,
            }
        }
        Done { took: began.elapsed(), ..done }
    }
}

fn read(stream: &mut BufReader<UnixStream>) -> Option<Line> {
    let mut line = String::new();
    stream.read_line(&mut line).ok().filter(|read| *read > 0)?;
    Some(serde_json::from_str(&line).unwrap())
}
