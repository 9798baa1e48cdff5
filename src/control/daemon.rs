//! The life of the one daemon of a home folder: its lock, its socket, its end.
use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Seek, Write};
use std::os::fd::RawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::home::Home;
use crate::control::build::Build;
use crate::control::handler::Handler;
use crate::control::server::{Limits, Server};

/// The right to be the daemon of a home folder, for as long as it lives.
#[derive(Debug)]
pub struct Claim {
    home: Home,
    /// Closing it lets the lock go.
    _lock: File,
}

impl Claim {
    /// Takes the lock. Returns nothing when another daemon holds it: then this one is not needed.
    pub async fn take(home: &Home) -> io::Result<Option<Self>> {
        let mut lock = open_private(&home.lock_file())?;
        // `doctor` and callers look at the lock for an instant; that must not end a daemon.
        for _ in 0..5 {
            match lock.try_lock() {
                Ok(()) => {
                    lock.set_len(0)?;
                    lock.rewind()?;
                    write!(lock, "{}", std::process::id())?;
                    return Ok(Some(Self { home: home.clone(), _lock: lock }));
                }
                Err(TryLockError::WouldBlock) => {
                    tokio::time::sleep(Duration::from_millis(20)).await
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Ok(None)
    }

    /// Serves until idle, told to end, or `stop` resolves; then removes the socket.
    pub async fn serve(
        &self,
        server: &Arc<Server>,
        stop: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let socket = self.home.socket();
        // Only the holder of the lock comes here, so a socket that is there is a dead daemon's.
        remove_if_there(&socket)?;
        let listener = UnixListener::bind(&socket)?;
        fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
        tracing::info!(socket = %socket.display(), build = %server.build, "serving");
        server.serve(listener, stop).await;
        remove_if_there(&socket)?;
        tracing::info!("ended");
        Ok(())
    }
}

/// Serves `handler` from `home` until it is idle, told to end, or signalled.
///
/// # Errors
/// When the socket cannot be made.
pub async fn serve(claim: Claim, handler: Arc<dyn Handler>, idle: Duration) -> io::Result<()> {
    let limits = Limits { idle, ..Limits::default() };
    let server = Server::new(handler, Build::of_process(), limits);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    };
    let served = claim.serve(&server, stop).await;
    // The store stays open until the process is over; a new daemon that came before would find it so.
    std::mem::forget(claim);
    served
}

/// Leaves the caller's terminal and process group, so that their signals end no daemon, and closes
/// the files it left open, so that nobody waits for the end of a pipe that a daemon holds. Call it
/// before anything else is opened.
pub fn detach() {
    // Fails only for the leader of a group, such as a daemon that is started by hand.
    let _ = nix::unistd::setsid();
    let entries = fs::read_dir("/dev/fd").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<RawFd>().ok());
    let inherited: Vec<RawFd> = numbers.filter(|number| *number > 2).collect();
    // One of them was the listing itself, and is closed already.
    for number in inherited {
        let _ = nix::unistd::close(number);
    }
}

/// Whether no daemon holds the lock now.
pub fn lock_is_free(home: &Home) -> bool {
    match File::open(home.lock_file()) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Returns the process that wrote itself into the lock last.
pub fn lock_holder(home: &Home) -> Option<u32> {
    fs::read_to_string(home.lock_file()).ok()?.trim().parse().ok()
}

/// Opens a file of the home folder, for its owner alone; what it holds stays.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    File::options().read(true).append(true).create(true).mode(0o600).open(path)
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
