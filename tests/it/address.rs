use std::sync::{Arc, mpsc};
use std::time::Duration;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};
use strawmanus::messages::address::{Address, AskError, Door};
use strawmanus::messages::directory::Directory;
use strawmanus::messages::inbox::{Inbox, Vitals};

use crate::support::house::{MINUTE, SECOND, quiet};

type Ask = RpcReplyPort<u32>;

/// Answers with its number, or keeps the reply port for ever.
struct Clerk;

impl Actor for Clerk {
    type Msg = Ask;
    type State = (Option<u32>, Vec<Ask>);
    type Arguments = Option<u32>;

    async fn pre_start(
        &self,
        _myself: ActorRef<Ask>,
        number: Option<u32>,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok((number, Vec::new()))
    }

    async fn handle(
        &self,
        _myself: ActorRef<Ask>,
        ask: Ask,
        (number, kept): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        match number {
            Some(number) => drop(ask.send(*number)),
            None => kept.push(ask),
        }
        Ok(())
    }
}

async fn clerk(number: Option<u32>) -> (ActorRef<Ask>, Arc<Vitals>, Inbox<Ask>) {
    let (clerk, _) = Actor::spawn(None, Clerk, number).await.unwrap();
    let vitals = Arc::new(Vitals::default());
    (clerk.clone(), Arc::clone(&vitals), Inbox::new(clerk, vitals))
}

async fn asked(address: &Address<Ask>) -> Result<u32, AskError> {
    address.ask(|reply| reply, MINUTE).await
}

#[tokio::test(start_paused = true)]
async fn an_address_leads_to_whoever_is_behind_the_door_now() {
    let door = Door::default();
    let address = door.address();
    let (first, _, inbox) = clerk(Some(1)).await;
    door.open(inbox);
    assert_eq!(asked(&address).await, Ok(1));

    first.kill_and_wait(None).await.unwrap();
    let waiting = tokio::spawn({
        let address = address.clone();
        async move { asked(&address).await }
    });
    quiet().await;
    assert!(!waiting.is_finished(), "nobody lives behind the door");
    door.open(clerk(Some(2)).await.2);
    assert_eq!(waiting.await.unwrap(), Ok(2), "the ask goes to the next incarnation");
}

#[tokio::test(start_paused = true)]
async fn an_ask_ends_when_its_actor_dies_or_is_slow() {
    let door = Door::default();
    let (silent, _, inbox) = clerk(None).await;
    door.open(inbox);
    let address = door.address();
    assert_eq!(address.ask(|reply| reply, SECOND).await, Err(AskError::TimedOut));

    let waiting = tokio::spawn(async move { asked(&address).await });
    quiet().await;
    silent.kill();
    assert_eq!(waiting.await.unwrap(), Err(AskError::Died));
}

/// Time must run: another thread opens the door.
#[tokio::test]
async fn a_pending_ask_holds_neither_the_door_nor_the_mailbox() {
    let door = Door::default();
    let (_, vitals, inbox) = clerk(None).await;
    door.open(inbox);
    let address = door.address();
    // Spawned, so this compiles only while an ask is `Send`.
    let pending = tokio::spawn(async move { asked(&address).await });
    tokio::task::yield_now().await;
    assert_eq!(Arc::strong_count(&vitals), 2, "ours and the door's");

    let (tell, told) = mpsc::channel();
    let (_, _, next) = clerk(None).await;
    std::thread::spawn(move || {
        door.open(next);
        let _ = tell.send(());
    });
    told.recv_timeout(Duration::from_secs(10)).expect("the door opens for the next incarnation");
    assert!(!pending.is_finished());
    pending.abort();
}

#[tokio::test(start_paused = true)]
async fn a_closed_door_ends_asks_and_watchers() {
    let doors = Directory::<u32, Ask>::default();
    doors.add(7);
    let address = doors.find(&7).unwrap();
    assert_eq!(asked(&address).await, Err(AskError::TimedOut), "the door is shut");

    let waiting = tokio::spawn({
        let address = address.clone();
        async move { asked(&address).await }
    });
    let watching = tokio::spawn({
        let address = address.clone();
        async move { address.closed().await }
    });
    doors.open(&7, clerk(None).await.2);
    doors.shut(&7);
    quiet().await;
    assert!(!waiting.is_finished() && !watching.is_finished(), "shut is not closed");
    doors.close(&7);
    assert_eq!(waiting.await.unwrap(), Err(AskError::Stopped));
    watching.await.unwrap();
    assert_eq!(asked(&address).await, Err(AskError::Stopped));
    assert!(doors.find(&7).is_none());
}

#[tokio::test(start_paused = true)]
async fn a_new_door_leaves_the_one_that_hangs_there() {
    let doors = Directory::<u32, Ask>::default();
    doors.add(7);
    doors.open(&7, clerk(Some(1)).await.2);
    let address = doors.find(&7).unwrap();
    doors.add(7);
    assert_eq!(asked(&address).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn what_waits_in_a_mailbox_is_counted() {
    let (silent, vitals, inbox) = clerk(None).await;
    for _ in 0..3 {
        let (reply, _) = tokio::sync::oneshot::channel();
        inbox.post(reply.into());
    }
    assert_eq!(vitals.waiting(), 3);
    (0..4).for_each(|_| vitals.took());
    assert_eq!(vitals.waiting(), 0, "never below nothing");
    silent.stop(None);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_panics_takes_its_actor_with_it() {
    for aside in [true, false] {
        let (clerk, _, inbox) = clerk(None).await;
        let _job = if aside {
            inbox.side_job(async { panic!("a bug") })
        } else {
            inbox.job(async { panic!("a bug") })
        };
        clerk.wait(Some(SECOND)).await.expect("the actor ends");
    }
}

#[tokio::test(start_paused = true)]
async fn a_job_ends_with_its_handle_and_a_debt_is_paid() {
    let (clerk, _, inbox) = clerk(None).await;
    let (sent, mut came) = tokio::sync::mpsc::unbounded_channel();
    let later = |name: &'static str| {
        let sent = sent.clone();
        async move {
            tokio::time::sleep(SECOND).await;
            let _ = sent.send(name);
        }
    };
    let job = inbox.side_job(later("job"));
    inbox.detached(later("debt"));
    quiet().await;
    assert!(!job.is_finished());
    drop(job);
    clerk.kill_and_wait(None).await.unwrap();
    drop((inbox, sent, clerk));
    assert_eq!(came.recv().await, Some("debt"));
    assert_eq!(came.recv().await, None, "the job ended with its handle");
}
