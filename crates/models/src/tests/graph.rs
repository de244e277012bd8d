//! The graphs of Figures 50, 52 and 58 and their guidelines, Tables 8, 9 and 11.

use threadbare_trace::EventKind::*;

use super::super::graph::{DependencyGraph, DependencyNode, Root, satisfies};
use super::super::*;
use super::{Flow, N, REF2, X, Y, at, figure_33, flow_33, trace, ud};

fn branch_graph(events: &[threadbare_trace::Event], flow: &Flow) -> DependencyGraph {
    let branch = branch_instances(events, flow)[0];
    DependencyGraph::of_branch(&branch, &UseDefines::of(events), flow, 1000)
}

fn circles(graph: &DependencyGraph) -> Vec<u64> {
    let variable = |node: &DependencyNode| match node {
        DependencyNode::Circle { used, .. } => Some(used.variable),
        DependencyNode::Box { .. } => None,
    };
    graph.nodes().iter().filter_map(variable).collect()
}

/// Figure 50: `if (x + y < 0)` with two defines of x and one of y.
#[test]
fn figure_50() {
    let flow = Flow { branches: vec![(3, vec![3])], ..Flow::default() };
    let graph = branch_graph(&figure_33(), &flow);
    assert_eq!(graph.root(), &Root::Branch(at(1, 3)));
    let DependencyNode::Box { open, child: Some(circle) } = &graph.nodes()[0] else { panic!("a leaf") };
    assert_eq!(open.iter().map(|used| used.variable).collect::<Vec<_>>(), [X, Y]);
    let DependencyNode::Circle { used, defines } = &graph.nodes()[*circle] else { panic!("a box") };
    assert_eq!((used.variable, defines.len()), (X, 2));
    assert_eq!(defines.iter().map(|it| it.0).collect::<Vec<_>>(), [Some(at(1, 1)), Some(at(2, 20))]);
    let leaf = |node: &&DependencyNode| matches!(node, DependencyNode::Box { child: None, .. });
    assert_eq!(graph.nodes().iter().filter(leaf).count(), 2);
    // The root, a circle for x, two boxes, and a circle for y and a leaf behind each.
    assert_eq!((graph.nodes().len(), circles(&graph)), (8, vec![X, Y, Y]));
}

#[test]
fn figure_52_and_tables_8_and_9() {
    let graph = branch_graph(&figure_33(), &flow_33());
    let (n, y) = (ud(N, (1, 4), (1, 3)), ud(Y, (1, 3), (1, 2)));
    let (first, second) = (ud(X, (1, 3), (1, 1)), ud(X, (1, 3), (2, 20)));
    assert_eq!(graph.guidelines(), [[y, first, n].into(), [y, second, n].into()]);
    assert_eq!(circles(&graph), [N, X, Y, Y]);
    let optimised = graph.optimised();
    assert_eq!(optimised.guidelines(), [[first].into(), [second].into()]);
    assert_eq!((optimised.nodes().len(), circles(&optimised)), (4, vec![X]));
    assert!(optimised.bytes() < graph.bytes());
    let seen = UseDefines::of(&figure_33());
    let kept: Vec<bool> = graph.guidelines().iter().map(|it| satisfies(&seen, it)).collect();
    assert_eq!(kept, [true, false]);
}

#[test]
fn figure_58_and_table_11() {
    let events = figure_33();
    let all = manner_occurrences(&events);
    let third = all.iter().find(|it| it.manner.is_usual()).unwrap();
    let seen = UseDefines::of(&events);
    let graph = DependencyGraph::of_manner(third, &all, &seen, &flow_33(), 1000);
    assert_eq!(graph.root(), &Root::Manner(at(2, 26)));
    let guidelines = graph.optimised().guidelines();
    assert_eq!(guidelines, [[ud(REF2, (2, 27), (2, 23))].into(), [ud(REF2, (2, 27), (3, 30))].into()]);
    assert_eq!(graph.nodes().len(), 4);
}

#[test]
fn a_branch_that_no_interleaving_affects_has_one_node_and_one_guideline() {
    let events = trace(&[(1, 1, Write, N), (1, 2, Read, N), (2, 3, Read, N)]);
    let flow = Flow { branches: vec![(2, vec![2])], ..Flow::default() };
    let graph = branch_graph(&events, &flow).optimised();
    assert_eq!((graph.nodes().len(), graph.guidelines().len()), (1, 1));
}

/// A counter in a loop depends on itself.
#[test]
fn loops_end() {
    let round = [(1, 1, Read, N), (1, 2, Read, X), (1, 3, Write, N)];
    let mut steps = round.repeat(50);
    steps.push((2, 9, Write, X));
    steps.push((1, 4, Read, N));
    let flow =
        Flow { branches: vec![(4, vec![4])], writes: vec![(1, vec![3]), (2, vec![3])], ..Flow::default() };
    let graph = branch_graph(&trace(&steps), &flow);
    assert!(!graph.is_cut() && graph.nodes().len() < 40, "{}", graph.nodes().len());
    let chosen = |site| graph.guidelines().iter().any(|it| it.contains(&ud(X, (1, 2), (2, site))));
    assert!(chosen(9));
}

#[test]
fn too_many_ways_are_cut_short() {
    let mut steps = Vec::new();
    for place in 0..20 {
        steps.push((2, 100 + place, Write, X + 8 * place));
        steps.push((1, place, Read, X + 8 * place));
    }
    let flow = Flow { branches: (0..20).map(|line| (line, vec![77])).collect(), ..Flow::default() };
    let events = trace(&steps);
    let branch = *branch_instances(&events, &flow).last().unwrap();
    let graph = DependencyGraph::of_branch(&branch, &UseDefines::of(&events), &flow, 500);
    assert!(graph.is_cut() && graph.nodes().len() <= 1100);
}

#[test]
fn the_drawing_names_every_node_and_edge() {
    let graph = branch_graph(&figure_33(), &flow_33()).optimised();
    let name = |variable: u64| if variable == X { "x \"shared\"".to_string() } else { "y".into() };
    let text = graph.drawing(&name, &|site| format!("line {site}")).dot();
    assert_eq!(text.matches(" -> ").count(), 3);
    assert_eq!(text.matches("shape=").count(), 4);
    assert!(text.contains("written at T2: line 20") && text.contains("x \\\"shared\\\""), "{text}");
}
