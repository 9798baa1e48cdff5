//! One daemon a home folder, whoever comes first, whatever is said to it, and whichever was there.
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use strawmanus::practice::server::{Options, Practice};

use crate::support::processes::processes_with;
use crate::support::shell::{Done, Shell, Started, done, eventually, now};

fn daemons(shell: &Shell) -> Vec<u32> {
    let found = processes_with(&shell.home().display().to_string());
    found
        .iter()
        .filter(|(_, line)| line.trim_end().ends_with(" daemon"))
        .map(|(pid, _)| *pid)
        .collect()
}

#[test]
fn twenty_commands_on_a_cold_start_are_answered_by_one_daemon() {
    let shell = Shell::new();
    let began = now();
    let started: Vec<Started> =
        (0..20).map(|n| shell.start(&["eval", &format!("{n} * 10")])).collect();
    for (n, command) in started.into_iter().enumerate() {
        let done = command.wait().good();
        assert_eq!(done.data("value"), n * 10, "{done:#?}");
    }
    println!("20 commands on a cold start: {:?}", began.elapsed());
    assert_eq!(daemons(&shell).len(), 1);
    let log = fs::read_to_string(shell.home().join("daemon.log")).unwrap();
    assert_eq!(log.matches(" serving ").count(), 1, "{log}");
    let profile = shell.home().join("profiles").display().to_string();
    let browsers = processes_with(&profile);
    let browsers =
        browsers.iter().filter(|(_, line)| !line.contains("--type=")).collect::<Vec<_>>();
    let mains = browsers.iter().filter(|(_, line)| line.contains("--user-data-dir=")).count();
    assert_eq!(mains, 1, "{browsers:#?}");
    assert_eq!(shell.run(&["tab", "list"]).good().data("tabs").as_array().unwrap().len(), 1);
}

/// A copy of the program in a folder of its own, which can be "rebuilt".
struct Copy<'a> {
    shell: &'a Shell,
    program: PathBuf,
}

impl<'a> Copy<'a> {
    fn new(shell: &'a Shell) -> Self {
        let copy = Self { shell, program: shell.folder().join("strawmanus") };
        copy.rebuild();
        copy
    }

    /// Puts a newer file in place of the old one, as a build does.
    fn rebuild(&self) {
        let new = self.program.with_extension("new");
        fs::copy(env!("CARGO_BIN_EXE_strawmanus"), &new).unwrap();
        fs::rename(new, &self.program).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let model = self.shell.command(words);
        let mut command = Command::new(&self.program);
        command.args(words).arg("--json").current_dir(self.shell.folder());
        for (key, value) in model.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Done {
        let began = now();
        done(self.command(words).output().unwrap(), began.elapsed())
    }
}

#[test]
fn a_rebuilt_program_replaces_its_daemon_but_not_under_a_run() {
    let (practice, shell) = (Practice::start(Options { ports: 1 }).unwrap(), Shell::new());
    let copy = Copy::new(&shell);
    copy.run(&["open", &practice.url("test", "/t/blank")]).good();
    let old = daemons(&shell);
    copy.rebuild();
    copy.run(&["runs"]).good();
    let new = daemons(&shell);
    assert_eq!((old.len(), new.len()), (1, 1), "{old:?} {new:?}");
    assert_ne!(old, new, "the old daemon has gone, and its browser with it");

    let held = practice.url("test", "/t/hold-document?name=build");
    let script = format!(
        "{}\n{}\n",
        json!({ "tool": "browser_navigate", "args": { "url": held } }),
        json!({ "tool": "finish", "args": { "answer": "done" } }),
    );
    fs::write(shell.folder().join("wait.jsonl"), script).unwrap();
    let run = Started::of(copy.command(&["run", "Wait", "--model", "script:wait.jsonl"]));
    let waits = || if practice.waiting("build") == 1 { Ok(()) } else { Err(()) };
    eventually(Duration::from_secs(20), waits).unwrap();
    copy.rebuild();
    let refused = copy.run(&["runs"]);
    assert_eq!((refused.exit, refused.word()), (4, "daemon"), "{refused:#?}");
    let message = refused.json["error"]["message"].as_str().unwrap();
    assert_eq!(message, "the daemon is another build of strawmanus, and run r1 is under way");
    assert_eq!(daemons(&shell), new, "it was left alone");
    practice.release("build");
    assert_eq!(run.wait().good().data("status"), "Complete");
    let rows = copy.run(&["runs"]).good();
    assert_eq!(rows.data("runs")[0]["state"], "complete", "{rows:#?}");
    assert_ne!(daemons(&shell), new);
}

/// A daemon of another version: it holds the lock, greets, and ends when it is told to.
fn foreign(home: &Path, hello: Value, busy: bool) -> JoinHandle<Vec<String>> {
    let lock = File::create(home.join("daemon.lock")).unwrap();
    lock.try_lock().unwrap();
    let socket = home.join("daemon.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    std::thread::spawn(move || {
        let mut heard = Vec::new();
        loop {
            let (stream, _) = listener.accept().unwrap();
            let mut writer = stream.try_clone().unwrap();
            writeln!(writer, "{}", json!({ "hello": hello })).unwrap();
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            let ends = line.contains("shutdown");
            heard.push(line.trim().to_owned());
            if ends && busy {
                let why = json!({ "kind": "busy", "message": "run r3 is under way" });
                writeln!(writer, "{}", json!({ "refused": why })).unwrap();
                fs::remove_file(&socket).unwrap();
                return heard;
            } else if ends {
                writeln!(writer, "{}", json!({ "ending": true })).unwrap();
                fs::remove_file(&socket).unwrap();
                drop(lock);
                return heard;
            }
        }
    })
}

#[test]
fn a_daemon_of_another_version_is_replaced() {
    for hello in [
        json!({ "protocol": 1, "pid": 1, "build": { "version": "0.0.1" }, "busy": null }),
        json!({ "protocol": 99, "pid": 1, "build": { "named": ["otherwise"] }, "mood": "calm" }),
    ] {
        let shell = Shell::new();
        let old = foreign(&shell.home(), hello, false);
        let told = shell.run(&["runs"]).good();
        assert!(told.data("runs").as_array().unwrap().is_empty());
        let heard = old.join().unwrap();
        assert_eq!(heard.last().unwrap(), "{\"shutdown\":true}");
        assert!(heard.iter().all(|line| !line.contains("request")), "nothing else was asked of it");
        assert_eq!(daemons(&shell).len(), 1);
    }
    let shell = Shell::new();
    let hello =
        json!({ "protocol": 1, "pid": 1, "build": { "version": "0.0.1" }, "busy": "run r3" });
    let busy = foreign(&shell.home(), hello, true);
    let told = shell.run(&["runs"]);
    assert_eq!((told.exit, told.word()), (4, "daemon"), "{told:#?}");
    assert!(told.json["error"]["message"].as_str().unwrap().contains("run r3 is under way"));
    busy.join().unwrap();
}

#[test]
fn the_daemon_outlives_what_is_written_to_its_socket() {
    let shell = Shell::new();
    let daemon = shell.daemon();
    let socket = shell.home().join("daemon.sock");
    let asked = |line: &[u8]| {
        let stream = UnixStream::connect(&socket).unwrap();
        let (mut reader, mut writer) = (BufReader::new(stream.try_clone().unwrap()), stream);
        let mut hello = String::new();
        reader.read_line(&mut hello).unwrap();
        assert!(hello.contains("hello"), "{hello}");
        // The daemon may hang up before all of it is written.
        let _ = writer.write_all(line);
        let _ = writer.shutdown(std::net::Shutdown::Write);
        let mut answer = String::new();
        let _ = reader.read_to_string(&mut answer);
        answer
    };
    let foreign = json!({ "request": { "v": 99, "id": "x", "from": "the future" } }).to_string();
    let no_verb = json!({ "request": { "v": 1, "id": "x", "verb": { "dance": {} } } }).to_string();
    for (line, word) in [
        ("{\"request\": nonsense}", "bad_line"),
        ("GET / HTTP/1.1\r\n\r\n", "bad_line"),
        ("\u{0}\u{1}\u{2}", "bad_line"),
        ("{}", "bad_line"),
        (&foreign, "foreign_protocol"),
        (&no_verb, "bad_line"),
    ] {
        let answer = asked(format!("{line}\n").as_bytes());
        assert!(answer.contains(word), "{line}: {answer}");
    }
    assert!(asked(&[0xff, 0xfe, b'\n']).contains("bad_line"));
    asked(&vec![b'x'; 9 << 20]);
    assert_eq!(asked(b"{\"became\":\"half a li"), "");
    assert_eq!(shell.daemon(), daemon, "it lives on");
}
