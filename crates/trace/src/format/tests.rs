use std::collections::VecDeque;

use headrace_units::{Bytes, Nanos};
use headrace_work::Op;
use proptest::prelude::*;

use super::*;

/// The request of the last line of a file in this format.
fn last(format: &TraceFormat, lines: &[&str]) -> Result<Raw, String> {
    let sample: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    let (mut parser, mut devices, mut out) = (format.parser(&sample), Devices::default(), VecDeque::new());
    for line in &sample {
        parser.line(line, &mut devices, &mut out)?;
    }
    parser.end(&mut out);
    out.pop_back().ok_or_else(|| "nothing".to_owned())
}

fn raw(time_ns: Option<u64>, op: Op, address: u64, bytes: u64) -> Raw {
    Raw { time_ns, device: 0, op, address: Some(address), bytes, response: None, think: None }
}

const OWN: &str = "time_ns,op,address,bytes,response_ns,think_ns,device";

fn took(ns: u64, raw: Raw) -> Raw {
    Raw { response: Some(Nanos(ns)), ..raw }
}

/// The request of the last line of a file that is found to have this format.
#[track_caller]
fn read(lines: &[&str], format: TraceFormat) -> Raw {
    let name = if format == TraceFormat::FioLatency { "a_clat.1.log" } else { "a.csv" };
    let sample: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    assert_eq!(detect(name, &sample), Some(format.clone()));
    last(&format, lines).unwrap()
}

#[test]
fn a_line_of_each_collection_is_read() {
    assert_eq!(
        read(
            &["419,W,8192,4096,1577808000000046", "7,R,126703644672,512,1577808000000051"],
            TraceFormat::Alibaba
        ),
        Raw { device: 1, ..raw(Some(1_577_808_000_000_051_000), Op::Read, 126_703_644_672, 512) }
    );
    assert_eq!(
        read(&["1538323200,12910952,128,0,1063", "1538323200,64,8,1,1063"], TraceFormat::Tencent),
        raw(Some(1_538_323_200_500_000_000), Op::Write, 64 * 512, 4096)
    );
    let lun = "1455592169.120131,.000125,R,0,61440,4096";
    assert_eq!(
        read(&["Timestamp,Response,IOType,LUN,Offset,Size", lun], TraceFormat::Systor),
        took(125_000, raw(Some(1_455_592_169_120_131_000), Op::Read, 61_440, 4096))
    );
    let unanswered = "1455592169.120131,,W,0,61440,512";
    assert_eq!(
        read(&[lun, unanswered], TraceFormat::Systor),
        raw(Some(1_455_592_169_120_131_000), Op::Write, 61_440, 512)
    );
    assert_eq!(
        read(&["89966019104 4892 syslogd 904265560 8 W 6 0 7efbc5c2c4f2c3c4"], TraceFormat::Fiu),
        raw(Some(89_966_019_104), Op::Write, 904_265_560 * 512, 4096)
    );
}

#[test]
fn a_line_of_each_format_is_read() {
    assert_eq!(
        read(&["R Miss  564347     2     14095.370     13876.270"], TraceFormat::Validate),
        Raw { think: Some(Nanos(13_876_270)), ..took(14_095_370, raw(None, Op::Read, 564_347 * 512, 1024)) }
    );
    assert_eq!(
        read(&["0.501 0 2000 8 1", "12.250000 0 303567 8 0"], TraceFormat::Ascii),
        raw(Some(12_250_000), Op::Write, 303_567 * 512, 4096)
    );
    assert_eq!(
        read(&["128166372003061629,usr,0,Read,7014609920,24576,41286"], TraceFormat::Msr),
        took(4_128_600, raw(Some(12_816_637_200_306_162_900), Op::Read, 7_014_609_920, 24_576))
    );
    assert_eq!(
        read(&["0,20941264,8192,W,0.551706"], TraceFormat::Spc),
        raw(Some(551_706_000), Op::Write, 20_941_264 * 512, 8192)
    );
    assert_eq!(
        read(&["101, 5000000, 0, 4096, 8192, 0"], TraceFormat::FioLatency),
        took(5_000_000, raw(Some(96_000_000), Op::Read, 8192, 4096))
    );
    assert_eq!(
        read(&[OWN, "7,write,512,1024,90,4,"], TraceFormat::Headrace),
        Raw { think: Some(Nanos(4)), ..took(90, raw(Some(7), Op::Write, 512, 1024)) }
    );
    assert_eq!(
        read(
            &[
                "  8,0    3        1     0.000000000   697  Q   R 223490 + 8 [kjournald]",
                "  8,0    3        2     0.000001829   697  D   R 223490 + 8 [kjournald]",
                "  8,0    1        3     0.004001829     0  C   R 223490 + 8 [0]",
            ],
            TraceFormat::Blkparse
        ),
        took(4_000_000, raw(Some(1829), Op::Read, 223_490 * 512, 4096))
    );
}

/// A record of version 2 of the virtual SCSI layer.
fn vscsi2(command: u16, bytes: u32, block: u64, us: u64, response: u64) -> Vec<u8> {
    let mut record = [command.to_le_bytes(), [7, 2]].concat();
    record.extend([9u32, bytes, 1].iter().flat_map(|number| number.to_le_bytes()));
    record.extend([block, us, response].iter().flat_map(|number| number.to_le_bytes()));
    record
}

/// A record of version 1.
fn vscsi1(command: u16, bytes: u32, block: u64, us: u64) -> Vec<u8> {
    let mut record: Vec<u8> = [9u32, bytes, 1].iter().flat_map(|number| number.to_le_bytes()).collect();
    record.extend([command.to_le_bytes(), [7, 1]].concat());
    record.extend([block, us].iter().flat_map(|number| number.to_le_bytes()));
    record
}

fn oracle_general(second: u32, object: u64, bytes: u32) -> Vec<u8> {
    let mut record = second.to_le_bytes().to_vec();
    record.extend(object.to_le_bytes());
    record.extend(bytes.to_le_bytes());
    record.extend((-1i64).to_le_bytes());
    record
}

/// The requests of a file of records, in the format that is detected, and how many were left out.
fn recorded(name: &str, records: &[Vec<u8>]) -> (TraceFormat, Vec<Raw>, u64) {
    let format = detect_records(name, &records.concat()).expect("it has records");
    let (mut parser, mut out) = (format.parser(&[]), VecDeque::new());
    for record in records {
        parser.line(record, &mut Devices::default(), &mut out).unwrap();
    }
    parser.end(&mut out);
    (format, out.into(), parser.left_out())
}

#[test]
fn records_of_virtual_scsi_are_read() {
    let read = raw(Some(5_000_000), Op::Read, 223_490 * 512, 4096);
    let write = raw(Some(6_000_000), Op::Write, 512, 8192);
    let found = recorded("a.vscsi", &[vscsi1(0x28, 4096, 223_490, 5000), vscsi1(0x2a, 8192, 1, 6000)]);
    assert_eq!(found, (TraceFormat::Vscsi1, vec![read, write], 0));
    let flush = vscsi2(0x35, 0, 0, 5500, 10);
    let records = [vscsi2(0x88, 4096, 223_490, 5000, 90), flush, vscsi2(0x0a, 8192, 1, 6000, 80)];
    let took = |us: u64, raw: Raw| Raw { response: Some(Nanos(us * 1000)), ..raw };
    assert_eq!(
        recorded("a.vscsi", &records),
        (TraceFormat::Vscsi2, vec![took(90, read), took(80, write)], 1)
    );
}

/// The requests of a second are spread over it; those of size 0 are left out.
#[test]
fn records_of_objects_are_reads_at_places_of_their_own() {
    let records = [
        oracle_general(7, 10, 4096),
        oracle_general(7, 11, 0),
        oracle_general(7, u64::MAX, 512),
        oracle_general(9, 10, 4096),
    ];
    let hash = (u64::MAX % (1 << 53)) * 512;
    assert_eq!(
        recorded("wiki.oracleGeneral.bin", &records),
        (
            TraceFormat::OracleGeneral,
            vec![
                raw(Some(7_000_000_000), Op::Read, 5120, 4096),
                raw(Some(7_500_000_000), Op::Read, hash, 512),
                raw(Some(9_000_000_000), Op::Read, 5120, 4096),
            ],
            1
        )
    );
    assert_eq!(detect_records("wiki.bin", &records.concat()), None, "only its name shows what it is");
    let (format, objects, _) = recorded("wiki.objects.oracleGeneral.bin", &records[..1]);
    assert_eq!(format, TraceFormat::OracleObjects);
    assert_eq!(
        objects,
        vec![raw(
            Some(7_000_000_000),
            Op::Read,
            10_u64.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 26 << 12,
            4096
        )]
    );
}

#[test]
fn a_bad_record_is_refused_with_the_reason() {
    let v2 = vscsi2(0x28, 4096, 1, 1, 1);
    let far = vscsi2(0x28, 4096, u64::MAX, 1, 1);
    let late = vscsi2(0x28, 4096, 1, u64::MAX, 1);
    for (format, record, says) in [
        (TraceFormat::Vscsi2, &v2[..12], "it has 12 of 40 bytes"),
        (TraceFormat::Vscsi1, &v2[..32], "version 0, not 1"),
        (TraceFormat::Vscsi2, &far[..], "a block is beyond"),
        (TraceFormat::Vscsi2, &late[..], "a time is beyond"),
        (TraceFormat::OracleGeneral, &v2[..23], "it has 23 of 24 bytes"),
    ] {
        let (mut parser, mut out) = (format.parser(&[]), VecDeque::new());
        let message = parser.line(record, &mut Devices::default(), &mut out).unwrap_err();
        assert!(message.contains(says), "{message}");
    }
}

#[test]
fn a_bad_line_is_refused_with_the_reason() {
    for (format, line, says) in [
        (TraceFormat::Validate, "R Miss 12 2 100.0", "has 5 fields"),
        (TraceFormat::Validate, "X Miss 12 2 100.0 1.0", "neither a read nor a write"),
        (TraceFormat::Validate, "0 1 12 2 100.0 1.0", "neither R nor W"),
        (TraceFormat::Validate, "R Miss 12 0 100.0 1.0", "the size is zero"),
        (TraceFormat::Validate, "R Miss -1 2 100.0 1.0", "not a valid sector number"),
        (TraceFormat::Validate, "R Miss 1 2 nan 1.0", "not a valid time"),
        (TraceFormat::Msr, "128166372003061629,usr,0,Read,7014609920,24576", "has 6 fields"),
        (TraceFormat::Ascii, "1.0 0 5 8 z", "not hexadecimal"),
        (TraceFormat::Spc, "0,20941264,8192,T,0.551706", "neither"),
        (TraceFormat::Alibaba, "419,W,8192,0,1577808000000046", "the size is zero"),
        (TraceFormat::Tencent, "1538323200,64,8,2,1063", "0|1"),
        (TraceFormat::Tencent, "99999999999,64,8,1,1063", "is beyond"),
        (TraceFormat::Systor, "1.5,x,R,0,1,2", "not a valid time"),
        (TraceFormat::Fiu, "89966019104 4892 syslogd 904265560 8 W a 0 7e", "not a valid device number"),
        (TraceFormat::Blkparse, "8,0 3 2 x 697 D R 223490 + 8 [k]", "not a valid time"),
        (TraceFormat::Headrace, "when,op", "no column `time_ns`"),
    ] {
        let message = last(&format, &[line]).unwrap_err();
        assert!(message.contains(says), "{line}: {message}");
    }
}

/// A requeued request is issued once; a request completed in parts ends with the last part; of two requests to the same
/// address, the first issued is the first completed.
#[test]
fn blkparse_follows_requeues_parts_and_twins() {
    let lines = [
        "8,0 3 1 0.000000000 697 D R 1000 + 8 [fio]",
        "8,0 3 2 0.001000000 697 R R 1000 + 8 [fio]",
        "8,0 3 3 0.010000000 697 D R 1000 + 8 [fio]",
        "8,0 1 4 0.012000000 0 C R 1000 + 8 [0]",
        "8,0 1 5 0.024000000 0 D R 9000 + 16 [fio]",
        "8,0 1 6 0.025000000 0 C R 9000 + 8 [0]",
        "8,0 1 7 0.027000000 0 C R 9008 + 8 [0]",
        "8,0 1 8 0.030000000 0 D W 50 + 8 [fio]",
        "8,0 1 9 0.031000000 0 D W 50 + 8 [fio]",
        "8,0 1 10 0.032000000 0 C W 50 + 8 [0]",
        "8,0 1 11 0.034000000 0 C W 50 + 8 [0]",
        "8,0 1 12 0.040000000 0 D DS 5000 + 8 [fio]",
        "8,0 1 13 0.041000000 0 C DS 5000 + 8 [0]",
        "8,0 1 14 0.050000000 0 D FWS 0 + 0 [fio]",
        "8,0 1 15 0.051000000 0 D FN [fio]",
        "CPU0 (8,0):",
    ];
    let (mut parser, mut devices, mut out) =
        (TraceFormat::Blkparse.parser(&[]), Devices::default(), VecDeque::new());
    lines.iter().for_each(|line| parser.line(line.as_bytes(), &mut devices, &mut out).unwrap());
    parser.end(&mut out);
    assert_eq!(parser.left_out(), 3, "a discard and two flushes");
    let times = out.iter().map(|raw| (raw.time_ns.unwrap() / 1_000_000, raw.response.unwrap().ms() as u64));
    assert_eq!(times.collect::<Vec<_>>(), [(10, 2), (24, 3), (30, 2), (31, 3)]);
}

proptest! {
    #[test]
    fn any_lines_are_read_or_refused(lines in prop::collection::vec("([RWD0-9., +x-]|8,0 |Read|\\[){0,80}|\\PC{0,60}", 1..5)) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for format in [
            TraceFormat::Validate, TraceFormat::Ascii, TraceFormat::Msr, TraceFormat::Spc, TraceFormat::Blkparse,
            TraceFormat::FioLatency, TraceFormat::FioBandwidth, TraceFormat::Headrace, TraceFormat::Alibaba,
            TraceFormat::Tencent, TraceFormat::Systor, TraceFormat::Fiu,
        ] {
            if let Ok(raw) = last(&format, &lines) {
                prop_assert!(raw.bytes > 0 && raw.address.unwrap_or(0) + raw.bytes <= 1 << 63);
            }
        }
    }

    #[test]
    fn any_records_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), versions: bool) {
        for (format, at) in [(TraceFormat::Vscsi1, 15), (TraceFormat::Vscsi2, 3), (TraceFormat::OracleGeneral, 0)] {
            let (mut parser, mut out) = (format.parser(&[]), VecDeque::new());
            for record in bytes.chunks(format.record().unwrap()) {
                let mut record = record.to_vec();
                if versions && record.len() > at {
                    record[at] = if at == 15 { 1 } else { 2 };
                }
                _ = parser.line(&record, &mut Devices::default(), &mut out);
            }
            parser.end(&mut out);
            for raw in out {
                prop_assert!(raw.bytes > 0 && raw.address.unwrap_or(0) + raw.bytes <= 1 << 63);
            }
        }
    }
}

/// Devices of `md` and `dm` have no issue events.
#[test]
fn requests_that_are_never_issued_begin_when_they_are_queued() {
    let lines = ["9,0 1 1 0.001 697 Q R 2048 + 8 [fio]", "9,0 1 2 0.002 697 C R 2048 + 8 [0]"];
    let seen: Vec<&[u8]> = lines.iter().map(|line| line.as_bytes()).collect();
    assert_eq!(detect("md0.txt", &seen), Some(TraceFormat::BlkparseQueued));
    let issued = [lines[0], "9,0 1 3 0.0015 697 D R 2048 + 8 [fio]", lines[1]];
    let seen: Vec<&[u8]> = issued.iter().map(|line| line.as_bytes()).collect();
    assert_eq!(detect("sda.txt", &seen), Some(TraceFormat::Blkparse));
}

/// Copies of the collection with the names of its columns are read as those without.
#[test]
fn names_of_columns_before_an_msr_trace_are_no_request() {
    let lines = [
        "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
        "128166372003061629,usr,0,Read,7014609920,24576,41286",
    ];
    assert_eq!(last(&TraceFormat::Msr, &lines), last(&TraceFormat::Msr, &lines[1..]));
    assert_eq!(detect("usr_0.csv", &lines.map(str::as_bytes)), Some(TraceFormat::Msr));
    assert!(last(&TraceFormat::Msr, &[lines[1], lines[0]]).is_err());
}

#[test]
fn columns_have_numbers_where_there_is_no_header() {
    let column = |at, unit| ByteColumn { column: ColumnName::Numbered(at), unit: Bytes(unit) };
    let columns = |op: ColumnName| {
        TraceFormat::Csv(Box::new(CsvColumns {
            time: Some(TimeColumn { column: ColumnName::Numbered(1), unit: Nanos(1_000_000_000) }),
            op,
            address: column(3, 512),
            size: column(4, 512),
            response: None,
            think: None,
            device: None,
        }))
    };
    let line = "0.25,R,100,8";
    let expected = raw(Some(250_000_000), Op::Read, 51_200, 4096);
    assert_eq!(last(&columns(ColumnName::Numbered(2)), &[line]).unwrap(), expected);
    assert_eq!(last(&columns("op".into()), &["t,op,lba,n", line]).unwrap(), expected);
    assert!(last(&columns(ColumnName::Numbered(9)), &[line]).unwrap_err().contains("no column 9"));
    assert!(last(&columns("op".into()), &["t;op;lba;n"]).unwrap_err().contains("separate fields by commas"));
}
