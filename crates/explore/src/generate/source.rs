//! A test as a program of its own.

use std::fmt::Write as _;

use super::{OperationCall, Operations, Test};

/// The test as plain source. `include` is the file that names the operations; `allowed` holds, for each sequential
/// order, the results of all calls and then of the observers, and is empty if results are not compared.
pub fn plain_source(test: &Test, operations: &Operations, include: &str, allowed: &[Vec<i64>]) -> String {
    let mut text =
        format!("// {test}\n#define THREADBARE_NO_MAIN\n#include \"{include}\"\n#include <assert.h>\n\n");
    let observers: Vec<&str> =
        operations.all.iter().filter(|it| it.observes).map(|it| it.name.as_str()).collect();
    let count = test.calls().count();
    let _ =
        writeln!(text, "static void *object;\nstatic long results[{}];\n", (count + observers.len()).max(1));
    let mut place = test.prefix.len();
    for (number, suffix) in test.suffixes.iter().enumerate() {
        let _ = writeln!(text, "static void *thread_{}(void *unused)\n{{", number + 1);
        place = calls(&mut text, suffix, place);
        text.push_str("    return unused;\n}\n\n");
    }
    text.push_str("int main(void)\n{\n    object = tb_construct();\n");
    calls(&mut text, &test.prefix, 0);
    let threads = test.suffixes.len();
    let _ = writeln!(text, "    pthread_t threads[{}];", threads.max(1));
    for number in 0..threads {
        let _ = writeln!(text, "    pthread_create(&threads[{number}], NULL, thread_{}, NULL);", number + 1);
    }
    let _ =
        writeln!(text, "    for (int i = 0; i < {threads}; i++)\n        pthread_join(threads[i], NULL);");
    for (number, name) in observers.iter().enumerate() {
        let _ = writeln!(text, "    results[{}] = tb_do_{name}(object, 0, 0, 0);", count + number);
    }
    text.push_str(&assertion(allowed));
    text.push_str("    tb_destroy(object);\n    return 0;\n}\n");
    text
}

/// Writes calls whose results begin at `place`; returns the place after them.
fn calls(text: &mut String, calls: &[OperationCall], place: usize) -> usize {
    for (number, call) in calls.iter().enumerate() {
        let argument = |at: usize| call.arguments.get(at).copied().unwrap_or(0);
        let (first, second, third) = (argument(0), argument(1), argument(2));
        let name = &call.operation;
        let _ = writeln!(
            text,
            "    results[{}] = tb_do_{name}(object, {first}, {second}, {third});",
            place + number
        );
    }
    place + calls.len()
}

fn assertion(allowed: &[Vec<i64>]) -> String {
    if allowed.is_empty() {
        return String::new();
    }
    let mut allowed = allowed.to_vec();
    allowed.sort();
    allowed.dedup();
    let equal = |results: &Vec<i64>| {
        let each = results.iter().enumerate().map(|(place, value)| format!("results[{place}] == {value}L"));
        format!("({})", each.collect::<Vec<_>>().join(" && "))
    };
    let any = allowed.iter().map(equal).collect::<Vec<_>>().join("\n           || ");
    format!("    // What the calls return one after the other, in any order of them.\n    assert({any});\n")
}
