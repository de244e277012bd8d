//! Trace files come back as they were written, and yield all that can be read when they are broken.

mod support;

use support::{Numbers, made_up};
use threadbare_trace::{TraceErrorKind, TraceFile};

#[test]
fn every_execution_comes_back() {
    for seed in 0..500 {
        let file = made_up(seed);
        assert_eq!(TraceFile::read(&file.to_bytes()).as_ref(), Ok(&file), "seed {seed}");
    }
}

#[test]
fn every_cut_keeps_what_comes_before_it() {
    for seed in 0..60 {
        let file = made_up(seed);
        let bytes = file.to_bytes();
        let mut before = (0, 0, 0);
        for length in 0..bytes.len() {
            let error = TraceFile::read(&bytes[..length]).expect_err("a cut file");
            assert_eq!(error.kind, TraceErrorKind::Truncated, "seed {seed}, {length} bytes");
            assert!(error.offset <= length as u64);
            let partial = &error.partial;
            assert_eq!(partial.events(), &file.events()[..partial.events().len()], "seed {seed}");
            assert_eq!(partial.switches(), &file.switches()[..partial.switches().len()]);
            for index in 0..partial.events().len() {
                assert_eq!(partial.object(index), file.object(index));
                assert_eq!(partial.value_name(index), file.value_name(index));
                let event = file.events()[index];
                assert_eq!(partial.site(event.pc, event.context), file.site(event.pc, event.context));
            }
            // The bytes up to the offset are whole records: reading them alone gives the same.
            let again = TraceFile::read(&bytes[..error.offset as usize]).expect_err("a cut file");
            assert_eq!(&again.partial, partial, "seed {seed}, {length} bytes");
            let now = (error.offset, partial.events().len(), partial.switches().len());
            assert!(before.0 <= now.0 && before.1 <= now.1 && before.2 <= now.2);
            before = now;
        }
        assert_eq!(
            (before.1, before.2),
            (file.events().len(), file.switches().len()),
            "only the end is missing"
        );
    }
}

#[test]
fn a_changed_byte_is_noticed_and_never_fatal() {
    for seed in 0..40 {
        let bytes = made_up(seed).to_bytes();
        let numbers = &mut Numbers::new(seed);
        for place in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[place] ^= 1 + numbers.below(255) as u8;
            let error = TraceFile::read(&changed).expect_err("a damaged file");
            assert!(error.offset <= changed.len() as u64, "seed {seed}, byte {place}");
        }
    }
}

#[test]
fn noise_is_never_fatal() {
    for seed in 0..2000 {
        let numbers = &mut Numbers::new(seed);
        let mut bytes = b"threadbare trace 1\n".to_vec();
        for _ in 0..numbers.below(40) {
            // Records of plausible length, so that their content is looked at.
            let length = numbers.below(20);
            bytes.extend([numbers.below(13) as u8, length as u8]);
            bytes.extend(
                (0..length).map(|_| numbers.below(if length.is_multiple_of(2) { 4 } else { 256 }) as u8),
            );
        }
        let error = TraceFile::read(&bytes).expect_err("noise has no checksum");
        assert!(error.offset <= bytes.len() as u64, "seed {seed}");
    }
}

#[test]
fn foreign_files_and_newer_versions_are_distinguished() {
    let kind = |bytes: &[u8]| TraceFile::read(bytes).map_err(|error| (error.offset, error.kind));
    for foreign in [&b"\x7fELF\x02\x01"[..], b"hello", b"threadbare schedule 1\nend\n"] {
        assert_eq!(kind(foreign), Err((0, TraceErrorKind::Foreign)));
    }
    assert_eq!(kind(b"threadbare trace 12345678901234567890\n"), Err((0, TraceErrorKind::Foreign)));
    assert_eq!(kind(b"threadbare trace 9\n"), Err((17, TraceErrorKind::Version("9".into()))));
    assert_eq!(kind(b""), Err((0, TraceErrorKind::Truncated)));
    let mut longer = TraceFile::default().to_bytes();
    let end = longer.len() as u64;
    longer.push(0);
    assert_eq!(kind(&longer), Err((end, TraceErrorKind::Trailing)));
}

#[test]
fn an_event_takes_few_bytes() {
    let mut file = TraceFile::default();
    for step in 0..1000_u64 {
        let kind = threadbare_trace::EventKind::Read;
        support::push(
            &mut file,
            (step % 4) as u16,
            kind,
            0x7fff_0000_1000 + step % 50 * 8,
            "balance",
            step % 9,
        );
    }
    let bytes = file.to_bytes().len();
    assert!(bytes < 14 * 1000, "{bytes} bytes for 1000 events");
}
