//! Replaying in another folder than the one in which a schedule was made.

mod support;

use support::{Answer, Desk};

const LOST: &str = r#"
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

static VOTES: AtomicUsize = AtomicUsize::new(0);

fn vote() {
    let seen = VOTES.load(SeqCst);
    VOTES.store(seen + 1, SeqCst);
}

fn main() {
    let other = std::thread::spawn(vote);
    vote();
    other.join().unwrap();
    assert_eq!(VOTES.load(SeqCst), 2);
}
"#;

#[test]
fn a_program_that_is_built_again_elsewhere_has_not_changed() {
    let desk = Desk::new();
    for folder in ["made", "elsewhere"] {
        std::fs::create_dir(desk.path(folder)).expect("a folder");
    }
    desk.file("made/lost.rs", LOST);
    let run = |folder: &str, args: &[&str]| {
        let output = desk.command(args).current_dir(desk.path(folder)).output();
        Answer::from(output.expect("the tool starts"))
    };
    let hunt = run("made", &["hunt", "-q", "lost.rs"]);
    assert_eq!(hunt.code, Some(1), "{}{}", hunt.stdout, hunt.stderr);
    let again = run("elsewhere", &["replay", "-q", "../made/.threadbare/lost-1.schedule"]);
    assert_eq!((again.code, again.stderr.as_str()), (Some(1), ""), "{}", again.stdout);
}
