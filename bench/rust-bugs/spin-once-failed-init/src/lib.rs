//! RUSTSEC-2023-0031: where one initialisation of a `Once` fails, others take it for done.

#[test]
fn a_failed_initialisation_leaves_it_to_the_next() {
    let once = spin::Once::<String>::new();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            assert!(once.try_call_once(|| Err::<String, _>("no luck")).is_err() || once.is_completed())
        });
        scope.spawn(|| assert_eq!(once.call_once(|| "value".to_string()), "value"));
    });
}
