//! Traces of correct programs: nobody may be sure of anything in them.

mod scenario;

use scenario::is_clean;

#[test]
fn a_counter_under_a_mutex() {
    let increment = |thread: u16| {
        format!("{thread} lock m @1\n {thread} read x @2\n {thread} write x @3\n {thread} unlock m @4\n")
    };
    let rounds: String = [1, 2, 1, 2, 2, 1].map(increment).concat();
    is_clean(&format!("0 write x\n 0 create 1\n 0 create 2\n {rounds} 0 join 1\n 0 join 2\n 0 read x"));
}

#[test]
fn two_values_under_a_read_write_lock() {
    let write = |thread: u16| {
        format!("{thread} lock m @1\n {thread} write x @2\n {thread} write y @3\n {thread} unlock m @4\n")
    };
    let read = |thread: u16| {
        format!("{thread} read-lock m @5\n {thread} read x @6\n {thread} read y @7\n {thread} unlock m @8\n")
    };
    let all = [write(1), read(2), write(1), read(3), read(2), write(1), read(3)].concat();
    is_clean(&format!("0 create 1\n 0 create 2\n 0 create 3\n {all}"));
}

/// A queue of one place: whoever finds it full or empty waits.
#[test]
fn a_queue_with_a_condition_variable() {
    is_clean(
        "0 create 1
        0 create 2
        2 lock m @20
        2 read n @21
        2 wait c m @22
        1 lock m @10
        1 read n @11
        1 write q @12
        1 write n @13
        1 signal c @14
        1 unlock m @15
        2 wake c m @22
        2 read n @21
        2 read q @23
        2 write n @24
        2 signal c @25
        2 unlock m @26
        1 lock m @10
        1 read n @11
        1 write q @12
        1 write n @13
        1 signal c @14
        1 unlock m @15
        2 lock m @20
        2 read n @21
        2 read q @23
        2 write n @24
        2 signal c @25
        2 unlock m @26",
    );
}

/// The buffer itself is used outside of the lock, by whoever's turn it is; nobody had to wait in this run.
#[test]
fn a_buffer_handed_to_and_fro_by_a_flag_under_a_lock() {
    let turn = |thread: u16, base: u16| {
        format!(
            "{thread} lock m @{}\n {thread} read t @{}\n {thread} unlock m\n {thread} read b @{}\n \
             {thread} write b @{}\n {thread} lock m\n {thread} write t @{}\n {thread} signal c\n {thread} unlock m\n",
            base,
            base + 1,
            base + 2,
            base + 3,
            base + 4
        )
    };
    let turns = [turn(1, 10), turn(2, 20), turn(1, 10), turn(2, 20)].concat();
    is_clean(&format!("0 create 1\n 0 create 2\n {turns}"));
}

#[test]
fn phases_between_barriers() {
    is_clean(
        "0 create 1
        0 create 2
        1 write x @1
        2 write y @2
        1 arrive b
        2 arrive b
        2 leave b 1
        2 read x @3
        2 write x @4
        1 leave b 1
        1 read y @5
        1 write y @6
        1 arrive b
        2 arrive b
        2 leave b 2
        1 leave b 2
        1 read x
        2 read y",
    );
}

#[test]
fn a_semaphore_as_a_lock() {
    let inside = |thread: u16| {
        format!("{thread} take s\n {thread} read x @1\n {thread} write x @2\n {thread} post s\n")
    };
    is_clean(&format!("0 post s\n 0 create 1\n 0 create 2\n {}", [1, 2, 2, 1].map(inside).concat()));
}

#[test]
fn atomic_counters_and_flags() {
    is_clean(
        "0 create 1
        0 create 2
        1 load f @5
        1 load f @5
        2 update n @1
        1 update n @1
        2 write d @2
        2 store f @3
        1 load f @5
        1 read d @6
        2 update n @1
        1 update n @1
        0 join 1
        0 join 2
        0 load n",
    );
}

#[test]
fn something_made_once() {
    is_clean(
        "0 create 1
        0 create 2
        1 once-begin o
        1 write x
        1 once-end o
        2 once-seen o
        2 read x
        1 read x",
    );
}

#[test]
fn each_thread_on_its_own_stack_and_blocks() {
    is_clean(
        "0 create 1
        1 start s t
        1 write s+16
        1 alloc h 16
        1 write h
        1 free h 16
        1 exit
        0 create 2
        2 start s t
        2 write s+16
        2 alloc h 16
        2 write h
        2 free h 16",
    );
}

#[test]
fn locks_always_taken_in_one_order() {
    let transfer = |thread: u16| {
        format!(
            "{thread} lock a @1\n {thread} lock b @2\n {thread} read x @3\n {thread} write x @4\n \
             {thread} read y @5\n {thread} write y @6\n {thread} unlock b\n {thread} unlock a\n"
        )
    };
    is_clean(&format!("0 create 1\n 0 create 2\n {}", [1, 2, 1, 2].map(transfer).concat()));
}

#[test]
fn a_value_announced_through_a_pipe() {
    is_clean("0 create 1\n 1 write x\n 1 output w\n 0 input r\n 0 read x");
}

/// The slow path of a read-write lock comes ready-made: a writer that finds the lock (`s`) taken sleeps on another word
/// (`n`), and takes the lock unseen when it is awake, here after another writer.
#[test]
fn a_writer_that_slept_for_a_read_write_lock() {
    is_clean(
        "0 create 1
        0 create 2
        1 update s 1
        2 failed s
        2 futex-wait n
        1 read x @10
        1 update s 0
        1 futex-wake n
        1 update s 9
        1 write x @11
        1 update s 0
        2 futex-woken n
        2 write x @12
        2 update s 0",
    );
}

/// A condition variable comes ready-made: it releases its mutex (`m`) and takes it again unseen, whether it sleeps
/// on its own word (`c`) or finds that it need not.
#[test]
fn a_condition_variable_that_is_not_seen_inside() {
    is_clean(
        "0 create 1
        0 update m 1
        0 read x @10
        1 seize m 1
        1 write x @11
        1 update m 0
        1 futex-wake c 0
        0 futex-wait c 1
        0 read x @10
        0 futex-wake m 0
        1 seize m 1
        1 write x @12
        1 update m 0
        0 read x @13
        0 update m 0",
    );
}

/// The guard (`g`) of a function-local static is set by code that is not seen.
#[test]
fn a_local_static_that_three_threads_use() {
    is_clean(
        "0 create 1
        0 create 2
        0 create 3
        1 load g
        1 write x @10
        2 load g 1
        2 read x @11
        3 load g 1
        3 read x @11",
    );
}

#[test]
fn a_once_routine_that_was_cancelled_and_is_run_again() {
    is_clean(
        "0 create 1
        0 create 2
        1 once-begin o
        1 write x @10
        1 exit
        2 once-begin o
        2 write x @10
        2 once-end o",
    );
}

#[test]
fn a_signal_handler_sees_what_came_before_the_signal() {
    is_clean(
        "0 put x @10\n 0 send 1\n 1 interrupts 0\n 1 block 0\n 1 put x 2 @11\n 1 exit\n 0 handled 1\n 0 read x",
    );
}
