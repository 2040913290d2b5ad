//! Tests of the wrapper on well-formed and on damaged files.

use tabfile::{Error, Record, Tab, crc32};

/// A file of version 1: header, table, data.
fn file(records: &[(u8, &[u8])]) -> Vec<u8> {
    let data_at = 24 + 8 * records.len();
    let mut bytes = header(records.len() as u16, 8, 24, data_at as u32);
    let mut data = Vec::new();
    for (kind, content) in records {
        bytes.extend([*kind, 0]);
        bytes.extend((content.len() as u16).to_le_bytes());
        bytes.extend((data.len() as u32).to_le_bytes());
        data.extend_from_slice(content);
    }
    bytes.extend(data);
    bytes
}

fn header(count: u16, record_size: u16, table: u16, data: u32) -> Vec<u8> {
    let mut bytes = b"TAB\x1a\x01\x00".to_vec();
    for field in [count, record_size, table] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.extend(data.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(crc32(&bytes).to_le_bytes());
    bytes
}

fn error(bytes: &[u8]) -> Option<Error> {
    Tab::parse(bytes).err()
}

#[test]
fn records_of_every_kind() -> Result<(), Error> {
    let bytes = file(&[
        (1, b"name"),
        (2, &[1, 0, 0, 0, 0, 1, 0, 0]),
        (0, b"\x00\xff"),
    ]);
    let tab = Tab::parse(&bytes)?;
    let records: Vec<_> = tab.records().collect();
    assert_eq!(tab.version(), 1);
    assert_eq!(
        records,
        [
            Record::Text(b"name"),
            Record::Numbers(vec![1, 256]),
            Record::Raw(b"\x00\xff")
        ]
    );
    Ok(())
}

#[test]
fn an_empty_table() -> Result<(), Error> {
    assert_eq!(Tab::parse(&file(&[]))?.records().count(), 0);
    Ok(())
}

#[test]
fn every_change_of_the_header_is_noticed() {
    let good = file(&[(1, b"name")]);
    for byte in 0..24 {
        let mut bad = good.clone();
        bad[byte] ^= 1;
        assert!(error(&bad).is_some(), "byte {byte}");
    }
    assert_eq!(error(&good[..23]), Some(Error::Truncated));
}

#[test]
fn a_table_that_does_not_fit() {
    assert_eq!(error(&header(1, 8, 24, 24)), Some(Error::BadHeader));
    assert_eq!(error(&header(0, 7, 24, 24)), Some(Error::BadHeader));
    assert_eq!(error(&header(0, 8, 23, 24)), Some(Error::BadHeader));
    assert_eq!(error(&header(0, 8, 24, 25)), Some(Error::BadHeader));
    assert_eq!(error(&header(65, 8, 24, 24)), Some(Error::BadHeader));
}

#[test]
fn records_outside_the_data() {
    let mut bytes = file(&[(1, b"name")]);
    bytes.pop();
    assert_eq!(error(&bytes), Some(Error::BadRecord));
    assert_eq!(error(&file(&[(3, b"")])), Some(Error::BadRecord));
    assert_eq!(error(&file(&[(2, b"123")])), Some(Error::BadRecord));
}
