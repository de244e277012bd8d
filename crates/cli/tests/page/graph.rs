//! The graphs of a verification, and moving about in them.

use serde_json::Value;

use super::views::Opened;

/// The groups, the graphs and their guidelines are as many as they should be.
pub fn graph(page: &Opened<'_>, report: &Value) {
    page.says(report);
    page.view("coverage");
    let groups = report["coverage"]["groups"]["tested"].as_u64().expect("a number");
    assert!(page.text("[data-criterion=groups]").contains(&format!("{groups} group")));
    let left = report["coverage"]["groups"]["uncovered"].as_array().expect("a list");
    let listed = page.rows("[data-criterion=groups] .uncovered");
    assert!(!left.is_empty() && listed.len() == left.len(), "{listed:?} of {left:?}");
    for (row, question) in listed.iter().zip(left) {
        assert_eq!(
            (question["question"].as_str(), &question["count"].to_string()),
            (Some(&*row[0]), &row[2])
        );
        let sites = question["sites"].as_array().expect("sites").iter().filter_map(Value::as_str);
        assert!(sites.into_iter().all(|site| row[1].contains(site)), "{row:?}: {question}");
    }
    page.view("graph");
    let counted = page.text("#pick-graph");
    let shown: u64 = counted
        .split('—')
        .skip(1)
        .filter_map(|part| part.trim().split(' ').next()?.parse::<u64>().ok())
        .sum();
    assert_eq!(Some(shown), report["graph"]["guidelines"].as_u64(), "{counted}");
    assert!(page.number("document.querySelectorAll('#guidelines li').length") >= 2);
    assert!(page.number("document.querySelectorAll('.graph rect').length") >= 3);
    zoom(page);
    places_keep_their_lines(page);
    a_large_graph_fits(page);
}

/// What is too long for the drawing loses letters of the file's name, never the line.
fn places_keep_their_lines(page: &Opened<'_>) {
    let clipped = |text: &str, most: usize| page.0.script(&format!("return clippedPlace({text:?}, {most})"));
    assert_eq!(clipped("written at T1: lost_update.c:21", 26), "written at T1: lost…e.c:21");
    assert_eq!(clipped("written at T1: a.c:21", 26), "written at T1: a.c:21");
    assert_eq!(clipped("a_name_without_a_line", 10), "a_name_wi…");
    let lost = "[...document.querySelectorAll('.graph .by')].filter((it) => {
        const line = it.querySelector('title').textContent.match(/:\\d+$/);
        return line && !it.firstChild.textContent.endsWith(line[0]);
    }).length";
    assert_eq!(page.number(lost), 0);
}

/// However large a graph is, all of it can be seen.
fn a_large_graph_fits(page: &Opened<'_>) {
    let scale = page.0.script(
        "const drawing = { node: svg('svg', { class: 'graph', width: 90000, height: 90000 }), width: 90000, height: 90000 };
         const { bar, frame, zoom } = zoomable(drawing, 'large');
         document.querySelector('main').append(frame);
         zoom.fit();
         const fits = frame.scrollWidth <= frame.clientWidth && frame.scrollHeight <= frame.clientHeight;
         zoom.by(0.5);
         const stays = frame.scrollWidth <= frame.clientWidth;
         frame.remove();
         return [fits, stays]",
    );
    assert_eq!(scale, serde_json::json!([true, true]));
}

/// A graph is zoomed by buttons, keys and the wheel, moved by dragging, and fitted into its frame.
fn zoom(page: &Opened<'_>) {
    let width = || page.0.script("return document.querySelector('.graph').getBoundingClientRect().width");
    let width = || width().as_f64().expect("a width");
    let whole = width();
    page.0.point("#graph-larger", true);
    let larger = width();
    assert!(larger > whole * 1.2 && page.text("#graph-zoom") == "125 %", "{larger} after {whole}");
    page.0.press("+");
    assert!(width() > larger * 1.2, "{} after {larger}", width());
    page.0.script(
        "const frame = document.getElementById('graph-frame'); const box = frame.getBoundingClientRect();
         for (let step = 0; step < 6; step++) frame.dispatchEvent(new WheelEvent('wheel',
           { deltaY: -100, clientX: box.left + 20, clientY: box.top + 20, cancelable: true }))",
    );
    assert!(width() > larger * 2.0, "{} after {larger}", width());
    let left = "document.getElementById('graph-frame').scrollLeft";
    let before = page.number(left);
    page.0.drag("#graph-frame", -60);
    assert_eq!(page.number(left), before + 60, "it follows the pointer");
    page.0.press("0");
    let fits = "(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
        scrollWidth <= clientWidth && scrollHeight <= clientHeight)(document.getElementById('graph-frame'))";
    assert_eq!(page.0.script(&format!("return {fits}")), true);
    page.0.press("-");
    assert!(width() < whole, "{} after {whole}", width());
    page.0.point("#graph-fit", true);
    assert_eq!(page.0.script(&format!("return {fits}")), true);
    page.is_content();
}
