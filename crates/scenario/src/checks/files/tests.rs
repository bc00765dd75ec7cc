use super::*;

const TEXT: &str = "
system:
  disks: {type: disk_pool, chains: 1, volumes: 1, volume: 100 B, rate: 1 MB/s}
  clerk: {type: station, service: 8 ms}
workload: {users: {to: clerk, arrivals: {every: 10 ms}}}
";

const POOL: NodeId = NodeId(0);
const ARCHIVE: NodeId = NodeId(1);

/// What the books say is wrong with these facts.
fn wrong(facts: &[Fact]) -> Vec<String> {
    let plan = crate::prepare(TEXT, "t.yaml", &[], &crate::progress::Progress::default()).unwrap();
    let books = FileBooks::new(&plan.graph);
    facts.iter().for_each(|fact| books.saw(ARCHIVE, fact, Nanos(0)));
    books.broken()
}

fn put(file: u32, bytes: u64) -> [Fact; 2] {
    [Fact::SpaceTaken { pool: POOL, file, bytes }, Fact::OnDisk(file)]
}

#[track_caller]
fn only(facts: &[&[Fact]], says: &str) {
    let found = wrong(&facts.concat());
    assert!(found.len() == 1 && found[0].contains(says), "{found:?}");
}

const PURGED: Fact = Fact::Purged { pool: POOL, file: 0 };
const FREED: Fact = Fact::Freed { pool: POOL, file: 0 };

#[test]
fn a_sound_life_of_a_file_breaks_nothing() {
    let life = [
        Fact::OnTape(0),
        Fact::ReadBegins(0),
        Fact::ReadEnds(0),
        Fact::Pinned { file: 0, until: Nanos(0) },
        PURGED,
    ];
    let again = [Fact::Unwanted(0), FREED];
    let all = [&put(0, 60)[..], &life, &put(0, 60), &again, &put(1, 100)].concat();
    assert_eq!(wrong(&all), Vec::<String>::new());
}

#[test]
fn each_law_catches_what_breaks_it() {
    only(&[&put(0, 60), &put(1, 60)], "120 B of the 100 B of disks are taken");
    only(&[&put(0, 1), &[PURGED]], "it is purged, and is not on tape");
    only(&[&put(0, 1), &[Fact::OnTape(0), Fact::ReadBegins(0), PURGED]], "it is purged while it is read");
    let pinned = |until| Fact::Pinned { file: 0, until: Nanos(until) };
    only(&[&put(0, 1), &[Fact::OnTape(0), pinned(1), PURGED]], "it is purged while it is pinned");
    only(&[&[pinned(1)]], "it is pinned in the pool, where it is not");
    let elsewhere = Fact::Purged { pool: ARCHIVE, file: 0 };
    only(&[&put(0, 1), &[Fact::OnTape(0), elsewhere]], "its data leaves clerk, where it is not");
    only(&[&put(0, 1), &[Fact::OnTape(0), FREED]], "nobody deleted it");
    only(&[&put(0, 1), &[Fact::Unwanted(0), Fact::ReadBegins(0), FREED]], "leaves the pool while it is read");
    let copied = |pool| Fact::Copied { file: 0, pool };
    only(&[&put(0, 1), &[copied(0), copied(1), copied(0)]], "it is copied to tape pool 0, where it is");
    only(&[&[copied(0)]], "it is copied to tape from the pool, where it is not");
    only(&[&[Fact::ReadBegins(0)]], "its data is read in the pool, where it is not");
}
