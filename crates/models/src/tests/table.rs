//! Algorithm 5 step by step, as in Figures 45 and 46 and Tables 4 and 5.

use std::collections::BTreeMap;

use super::super::{BranchOutcome, BranchTable};

#[test]
fn four_of_six_variants_are_tested() {
    let (first, second) = ("b1,1", "b2,1");
    let outcomes = |one: bool, other: bool| -> BTreeMap<&str, BranchOutcome> {
        [(first, BranchOutcome::Truth(one)), (second, BranchOutcome::Truth(other))].into()
    };
    let mut table: BranchTable<&str, u32> = BranchTable::default();
    table.add_group(first, [1, 2, 3]);
    table.add_group(first, [5]);
    table.add_group(first, [4]);
    table.add_group(second, [1, 2, 4]);
    table.add_group(second, [3, 5]);
    table.tested(&1, &outcomes(true, true));
    let tested: Vec<Option<u32>> = table.rows().into_iter().map(|row| row.tested_by).collect();
    assert_eq!(tested, [Some(1), None, None, None]);
    assert!(!table.is_complete());
    // No row's groups are known, so an untested group gives the next case.
    assert_eq!(table.next(), [5]);
    table.tested(&5, &outcomes(false, false));
    // A new variant turns up.
    table.add_to_group_of(&first, 6, &5);
    table.add_to_group_of(&second, 6, &1);
    assert_eq!(table.next(), [3, 6]);
    table.tested(&3, &outcomes(true, false));
    table.tested(&6, &outcomes(false, true));
    let tested: Vec<Option<u32>> = table.rows().into_iter().map(|row| row.tested_by).collect();
    assert_eq!(tested, [Some(1), Some(3), Some(6), Some(5)]);
    assert!(table.is_complete() && table.next().is_empty());
}

#[test]
fn a_loop_has_a_row_for_each_number_of_iterations() {
    let mut table: BranchTable<&str, u32> = BranchTable::default();
    table.add_group("loop", [1]);
    table.add_group("loop", [2]);
    table.tested(&1, &[("loop", BranchOutcome::Iterations(2))].into());
    assert_eq!(table.rows().len(), 1);
    assert!(table.is_complete(), "all rows that are known have been tested");
    table.tested(&2, &[("loop", BranchOutcome::Iterations(3))].into());
    assert_eq!(table.rows().len(), 2);
}
