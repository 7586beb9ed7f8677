//! CLOG2 against files and texts of the original software.

use crate::clog2::common::*;
use std::io::Cursor;
use test_support::golden;
use trace_formats::clog2::*;

#[test]
fn print_gives_the_text_of_clog2_print() {
    for (name, file) in golden_files() {
        let expected = golden::read(format!("mpe/{name}.txt"));
        let (text, result) = printed(&file);
        result.unwrap();
        assert_same_lines(&name, &text, &expected);
    }
}

#[test]
fn java_print_gives_the_text_of_the_java_tool() {
    let file = golden::read("mpe/commuser_n2.clog2");
    let expected = golden::read("mpe/commuser_n2.java.txt");
    let (text, result) = java_printed(&file);
    result.unwrap();
    assert_same_lines("commuser_n2", &text, &expected);
}

#[test]
fn java_print_refuses_little_endian() {
    let file = golden::read("mpe/flush_n2.local0.clog2");
    let (text, result) = java_printed(&file);
    assert!(text.is_empty());
    assert!(matches!(
        result.unwrap_err().kind,
        Clog2ErrorKind::LittleEndian
    ));
}

/// Reading and writing again gives the same bytes, but for those that have no meaning.
#[test]
fn round_trip() {
    for (name, original) in golden_files() {
        let reader = Clog2Reader::new(&original).unwrap();
        if !reader.preamble().is_finalized {
            continue;
        }
        let records: Vec<Clog2Record> = reader.records().collect::<Result<_, _>>().unwrap();
        let mut copy = written(reader.preamble(), &records, &reader.comm_table().unwrap());
        assert_eq!(
            Preamble::decode(&copy).unwrap(),
            *reader.preamble(),
            "{name}"
        );
        let mut original = original.clone();
        // clog2_join repeats the next record's whole header in ENDBLOCK where the merge has zeros.
        let keep_endblock = !name.contains("joined");
        mask(&mut original, keep_endblock);
        mask(&mut copy, keep_endblock);
        let difference = original.iter().zip(&copy).position(|(a, b)| a != b);
        assert_eq!((difference, copy.len()), (None, original.len()), "{name}");
    }
}

/// The same records as encoded bytes, in pieces as ranks would send them, give the same file as one by one.
#[test]
fn encoded_records_give_the_same_file() {
    for (name, original) in golden_files() {
        let reader = Clog2Reader::new(&original).unwrap();
        let preamble = reader.preamble();
        let table = reader.comm_table().unwrap();
        let records: Vec<Clog2Record> = reader.records().collect::<Result<_, _>>().unwrap();
        let mut file = Cursor::new(Vec::new());
        let mut writer = Clog2Writer::new(&mut file, preamble).unwrap();
        let mut buffer = [0xaa; 500];
        let mut used = 0;
        for record in &records {
            if record.encode(&mut buffer[used..]) == 0 {
                writer.write_encoded(&buffer[..used]).unwrap();
                used = 0;
                assert_eq!(record.encode(&mut buffer), record.size());
            }
            assert_eq!(peek_size(&buffer[used..]), record.size());
            assert_eq!(peek_time(&buffer[used..]), record.header.time);
            assert_eq!(peek_rectype(&buffer[used..]), record.body.rectype());
            used += record.size();
        }
        writer.write_encoded(&buffer[..used]).unwrap();
        writer.finish(&table, preamble).unwrap();
        assert_eq!(
            file.into_inner(),
            written(preamble, &records, &table),
            "{name}"
        );
    }
}

/// Zeroes the bytes of a merged file that have no meaning: pad fields, what follows the NUL of a text, what follows the
/// last record of a block.
fn mask(file: &mut [u8], keep_endblock: bool) {
    let copy = file.to_vec();
    let reader = Clog2Reader::new(&copy).unwrap();
    let block_size = reader.preamble().block_size as usize;
    for result in reader.raw_records() {
        let (offset, record) = result.unwrap();
        let start = offset as usize;
        let body = start + HEADER_SIZE;
        let (pads, texts): (&[usize], &[(usize, usize)]) = match record.body {
            Clog2Body::EndLog | Clog2Body::EndBlock => {
                if record.body == Clog2Body::EndBlock && !keep_endblock {
                    file[start + 8..start + 20].fill(0);
                }
                let block_end = start + block_size - (start - PREAMBLE_SIZE) % block_size;
                file[body..block_end].fill(0);
                (&[], &[])
            }
            Clog2Body::StateDef(_) => (&[12], &[(16, 24), (40, 32), (72, 40)]),
            Clog2Body::EventDef(_) => (&[4], &[(8, 24), (32, 32), (64, 40)]),
            Clog2Body::ConstDef(_) => (&[], &[(8, 32)]),
            Clog2Body::Bare { .. } | Clog2Body::Cargo { .. } => (&[4], &[]),
            Clog2Body::Msg(_) => (&[20], &[]),
            Clog2Body::Coll { .. } => (&[12], &[]),
            Clog2Body::SrcLoc { .. } => (&[], &[(8, 40)]),
            Clog2Body::Comm(_) | Clog2Body::TimeShift { .. } => (&[], &[]),
        };
        for pad in pads {
            file[body + pad..body + pad + 4].fill(0);
        }
        for (at, width) in texts {
            let field = &mut file[body + at..body + at + width];
            if let Some(end) = field.iter().position(|&byte| byte == 0) {
                field[end..].fill(0);
            }
        }
    }
}

fn assert_same_lines(name: &str, text: &[u8], expected: &[u8]) {
    let lines = |bytes: &[u8]| -> Vec<String> {
        bytes
            .split(|&byte| byte == b'\n')
            .map(|line| line.escape_ascii().to_string())
            .collect()
    };
    for (number, (ours, theirs)) in lines(text).iter().zip(&lines(expected)).enumerate() {
        assert_eq!(ours, theirs, "{name}, line {}", number + 1);
    }
    assert!(
        text == expected,
        "{name}: {} bytes, expected {}",
        text.len(),
        expected.len()
    );
}
