use super::*;
use headrace_work::FileAct;

const HEADER: &str = "time_s,op,user,host,file,bytes,staged,measured_s\n";

fn log_of(name: &str, text: &str, options: &str) -> Result<FileLog, ReplayProblem> {
    let path = std::env::temp_dir().join(format!("headrace-files-{}-{name}", std::process::id()));
    std::fs::write(&path, text).unwrap();
    let spec = match options {
        "" => FileLogSpec::File(String::new()),
        "skip_bad" => FileLogSpec::With(FileLogOptions {
            skip_bad: true,
            speed: 2.0,
            unseen: Unseen::Disk,
            ..FileLogSpec::File(String::new()).options()
        }),
        _ => unreachable!("tests use two"),
    };
    FileLog::plan(&path, &spec, &|_| true)
}

#[test]
fn operations_come_as_written() {
    let text = format!(
        "{HEADER}100,put,ann,cray,a.dat,5000,0,1.5\n100.25,GET,bob,7,a.dat,5000,0,\n\n101,get,bob,7,b.dat,0,1,\n102,stage,bob,7,c.dat,9,,\n\
         103,delete,bob,7,c.dat,,,\n104,get,bob,7,c.dat,9,,\n"
    );
    let log = log_of("plain", &text, "").unwrap();
    let survey = &log.survey;
    assert_eq!((survey.operations, survey.acts, survey.files), (6, [3, 1, 1, 1, 0, 0], 3));
    assert_eq!((survey.bytes_put, survey.bytes_got, survey.empty, survey.lost), (5000, 5010, 1, 1));
    let older: Vec<(u64, bool)> = survey.older.iter().map(|file| (file.bytes, file.on_tape)).collect();
    assert_eq!(older, [(1, true), (9, true)], "b is staged, c is on tape unless the log says otherwise");
    let due: Vec<FileDue> = log.due().unwrap().map(Result::unwrap).collect();
    assert_eq!(due[1].at, Nanos(250_000_000));
    assert_eq!((due[0].measured, due[1].measured), (Some(Nanos(1_500_000_000)), None));
    assert!(due[0].op.file == due[1].op.file && due[0].op.user != due[1].op.user);
    assert_eq!((due[1].op.act, due[1].op.host, due[4].op.act), (FileAct::Get, 7, FileAct::Delete));
    assert_eq!(log.notes().len(), 3, "{:?}", log.notes());
}

#[test]
fn every_error_names_its_line() {
    let cases = [
        ("time_s,op,user,file,bytes\n", "line 1: no column `host`"),
        (
            "1,copy,u,h,f,1,,\n",
            "line 2: `copy` is not `get`, `put`, `stage`, `delete`, `cancel` or `session`",
        ),
        ("1,get,u,h,f,1,,\n0.5,get,u,h,f,1,,\n", "line 3: `time_s` runs backwards, from 1 to 0.5"),
        ("1,get,u,h,f,-1,,\n", "line 2: `-1` is not a valid number of `bytes`"),
        ("1,get,u,h,,1,,\n", "line 2: `file` is empty"),
        ("1,get,u,h,f,1,2,\n", "line 2: `staged` is `2`"),
        ("1,get,u,h,f,99999999999999999,,\n", "at most"),
        ("noon,get,u,h,f,1,,\n", "line 2: `noon` is not a valid `time_s`"),
    ];
    for (at, (text, says)) in cases.iter().enumerate() {
        let whole = if at == 0 { (*text).to_owned() } else { format!("{HEADER}{text}") };
        let error = log_of(&format!("bad-{at}"), &whole, "").unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
    let empty = log_of("empty", HEADER, "").unwrap_err().to_string();
    assert!(empty.contains("has no requests"), "{empty}");
}

/// Where files lie on tape is known of a and b, of b only its cartridge; c is not on tape, and d no older than the log.
#[test]
fn files_have_places_on_tape() {
    let header = "time_s,op,user,host,file,bytes,staged,cartridge,position_bytes\n";
    let text = "1,get,u,h,a,10,1,L00001,4000\n2,get,u,h,b,20,1,L00001,\n3,get,u,h,c,5,0,L00001,5\n4,put,u,h,d,5,,L00002,5\n5,get,u,h,e,1,1,,\n";
    let log = log_of("places", &format!("{header}{text}"), "").unwrap();
    let places: Vec<Option<u64>> = log.survey.places.values().map(|place| place.position).collect();
    assert_eq!((places.len(), places.iter().flatten().copied().collect::<Vec<_>>()), (2, vec![4000]));
    let error = log_of("nowhere", &format!("{header}1,get,u,h,a,10,1,,7\n"), "").unwrap_err().to_string();
    assert!(error.contains("line 2: `position_bytes` needs the `cartridge`"), "{error}");
}

/// Files a and b are older than the log: a has what its column says, b as much as is got of it at most. c is put.
#[test]
fn gets_may_be_of_a_part_of_a_file() {
    let header = "time_s,op,user,host,file,bytes,file_bytes\n";
    let text = "1,get,u,h,a,10,1000\n2,get,u,h,b,20,\n3,get,u,h,b,50,\n4,put,u,h,c,30,\n5,get,u,h,c,40,\n6,get,u,h,c,30,\n";
    let log = log_of("partial", &format!("{header}{text}"), "").unwrap();
    let older: Vec<u64> = log.survey.older.iter().map(|file| file.bytes).collect();
    assert_eq!((older, log.survey.bytes_got, log.survey.largest), (vec![1000, 50], 150, 1000));
    assert_eq!(log.survey.partial, 3, "of a, of b before its size is known, and of c");
    assert!(log.notes()[0].starts_with("3 gets differ in size from their files"), "{:?}", log.notes());
    assert_eq!(log.due().unwrap().next().unwrap().unwrap().op.bytes, 10);
}

#[test]
fn bad_lines_can_be_skipped_and_are_counted() {
    let text = format!("{HEADER}1,get,u,h,f,1,,\n0.5,get,u,h,f,1,,\nrubbish\n3,put,u,h,g,1,,\n");
    let log = log_of("skipped", &text, "skip_bad").unwrap();
    assert_eq!((log.survey.operations, log.survey.skipped), (2, 2));
    assert!(!log.survey.older[0].on_tape);
    let due: Vec<Nanos> = log.due().unwrap().map(|due| due.unwrap().at).collect();
    assert_eq!(due, [Nanos::ZERO, Nanos::from_secs(1.0)], "at twice the speed");
}
