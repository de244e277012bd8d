//! RUSTSEC-2020-0017: dropping an `ArcIntern` races with making another one of the same value.

#[test]
fn the_last_one_may_go_while_another_comes() {
    let threads = [1, 2].map(|_| {
        std::thread::spawn(|| {
            let interned = internment::ArcIntern::new("a value".to_string());
            assert_eq!(*interned, "a value");
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
