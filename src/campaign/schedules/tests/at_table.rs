//! Lines and notices at a running table.

use std::sync::{Arc, Mutex};

use tokio::{sync::mpsc, time::sleep};

use super::{
    super::{EveningTable, by_program},
    MINUTE, begun, guild, line,
};
use crate::{
    campaign::now,
    domain::{Owner, Scope},
    session::{Command, EventReader, Halts, SeatStatus, Status, TableEvent, TableEvents, stand_in},
};

/// A table with Bartok, whose orders the test reads.
struct Table {
    /// Keeps the table open.
    commands: mpsc::Sender<Command>,
    events: TableEvents,
    told: EventReader,
    said: Arc<Mutex<Vec<String>>>,
    halts: Arc<Halts>,
}

impl Table {
    fn open(muted: bool) -> Self {
        Self::with(move |_| status(muted))
    }

    /// A table whose status `asked` makes.
    fn with(asked: impl Fn(&Halts) -> Status + Send + 'static) -> Self {
        let (commands, mut orders) = mpsc::channel(8);
        let halts = Arc::<Halts>::default();
        let used = Arc::clone(&halts);
        let said = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&said);
        tokio::spawn(async move {
            while let Some(order) = orders.recv().await {
                let order = match order {
                    Command::Unhalted { halts, order } if halts == used.count() => *order,
                    other => other,
                };
                match order {
                    Command::Status(ask) => _ = ask.send(asked(&used)),
                    Command::Puppet { speaker, text, .. } => {
                        heard.lock().unwrap().push(format!("{} {text}", speaker.0));
                    }
                    Command::Recite { caller, text, outside: true, .. } => {
                        let by = caller.speaker.0;
                        heard.lock().unwrap().push(format!("{by} {text} (outside)"));
                    }
                    _ => {}
                }
            }
        });
        let events = TableEvents::new(8);
        let told = events.subscribe();
        Self { commands, events, told, said, halts }
    }

    fn at(&self) -> EveningTable {
        let (commands, events) = (self.commands.downgrade(), self.events.downgrade());
        EveningTable { commands, events, halts: Arc::clone(&self.halts) }
    }
}

fn status(muted: bool) -> Status {
    stand_in::status(vec![SeatStatus { muted, ..stand_in::seat("Bartok") }])
}

#[tokio::test(start_paused = true)]
async fn line_is_said_in_each_session_at_its_time() {
    let (_folder, program) = begun();
    program.plan("session +20m", line("bartok", "Last orders!")).await.unwrap();
    let table = Table::open(false);
    for said in 1..=2 {
        let evening = program.evenings.begin(guild(), table.at(), now());
        sleep(19 * MINUTE).await;
        assert_eq!(table.said.lock().unwrap().len(), said - 1);
        sleep(60 * MINUTE).await;
        assert_eq!(table.said.lock().unwrap().len(), said);
        drop(evening);
        sleep(60 * MINUTE).await;
    }
    assert_eq!(*table.said.lock().unwrap(), ["11 Last orders!", "11 Last orders!"]);
    assert_eq!(program.left().await, 1);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn interrupted_session_fires_at_its_time_once() {
    let (_folder, program) = begun();
    program.plan("session +20m", line("bartok", "Last orders!")).await.unwrap();
    let (table, began) = (Table::open(false), now());
    for said in [0, 1, 1] {
        let evening = program.evenings.begin(guild(), table.at(), began);
        sleep(19 * MINUTE).await;
        assert_eq!(table.said.lock().unwrap().len(), said);
        drop(evening);
        sleep(MINUTE / 4).await;
    }
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn line_planned_by_a_program_is_tainted() {
    let (_folder, program) = begun();
    let last_orders = line("Bartok", "Last orders!");
    program.plan_by(by_program("a1b2c3d4"), "in 5m", last_orders).await.unwrap();
    let table = Table::open(false);
    let _evening = program.evenings.begin(guild(), table.at(), now());
    sleep(6 * MINUTE).await;
    assert_eq!(*table.said.lock().unwrap(), ["0 Last orders! (outside)"]);
    program.end().await;
}

#[tokio::test(start_paused = true)]
async fn line_without_session_is_told_as_missed() {
    let (_folder, mut program) = begun();
    program.plan("in 5m", line("Bartok", "Last orders!")).await.unwrap();
    let notice = program.notices.recv().await.unwrap().text;
    assert!(notice.contains("no session is running"), "{notice}");
    assert_eq!(program.left().await, 0);
    program.end().await;
}

/// The notice to the game master about a line that is not said at `table`.
async fn unsaid(mut table: Table) -> String {
    let (_folder, program) = begun();
    let _evening = program.evenings.begin(guild(), table.at(), now());
    program.plan("in 5m", line("Bartok", "Last orders!")).await.unwrap();
    let told = table.told.recv().await;
    let Some(TableEvent::Private(notice)) = told else { panic!("{told:?}") };
    assert!(table.said.lock().unwrap().is_empty());
    program.end().await;
    notice
}

#[tokio::test(start_paused = true)]
async fn line_of_a_muted_npc_is_told_at_the_table() {
    let notice = unsaid(Table::open(true)).await;
    assert!(notice.ends_with("Bartok is muted (use /npc unmute)."), "{notice}");
}

#[tokio::test(start_paused = true)]
async fn x_card_before_the_line_stops_it() {
    // Used as soon as the status is known.
    let table = Table::with(|halts| {
        halts.add();
        status(false)
    });
    let notice = unsaid(table).await;
    assert!(notice.contains("an X-card was used"), "{notice}");
}

#[tokio::test(start_paused = true)]
async fn line_of_an_npc_that_left_is_told() {
    let notice = unsaid(Table::with(|_| Status { seats: Vec::new(), ..status(false) })).await;
    assert!(notice.ends_with("Bartok is not at the table."), "{notice}");
}

#[tokio::test(start_paused = true)]
async fn undelivered_notice_waits_for_a_session() {
    let (_folder, mut program) = begun();
    program.plan("in 5m", line("Bartok", "Last orders!")).await.unwrap();
    let notice = program.notices.recv().await.unwrap();
    program.schedules.owe(notice.clone());
    let mut other = Table::open(false);
    let elsewhere = Scope { owner: Owner::Guild(8), ..guild() };
    let second = program.evenings.begin(elsewhere, other.at(), now());
    let mut table = Table::open(false);
    let _evening = program.evenings.begin(guild(), table.at(), now());
    let told = table.told.recv().await;
    assert!(matches!(&told, Some(TableEvent::Private(text)) if *text == notice.text), "{told:?}");
    program.end().await;
    drop((second, other.commands, other.events));
    assert!(other.told.recv().await.is_none(), "another server is told nothing");
}
