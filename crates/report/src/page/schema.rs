//! Whether the JSON object in a record is what commands write, as far as the page relies on it.

use serde_json::Value;

/// What a value has to be. Where there is nothing (null, or no field), there may always have been nothing to say.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    /// Not negative: everything in the object is a count, a time or a share.
    Number,
    /// Whatever its sign.
    Signed,
    Truth,
    List,
    Object,
    Verdict,
}

use Kind::{List, Number, Object, Signed, Text, Truth, Verdict};

/// What is looked at: `[]` is each of a list, `*` each field of an object.
const SHAPE: &[(&str, Kind)] = &[
    ("command", Text),
    ("program", Text),
    ("version", Text),
    ("strategy", Text),
    ("verdict", Verdict),
    ("seed", Number),
    ("executions", Number),
    ("steps", Number),
    ("threads", Number),
    ("runs", Number),
    ("elapsed_s", Number),
    ("executions_per_s", Number),
    ("test_cases", Number),
    ("exhausted", Truth),
    ("memory_model", Text),
    ("interrupted", Truth),
    ("warnings", List),
    ("warnings[]", Text),
    ("failures", List),
    ("failures[]", Object),
    ("failures[].kind", Text),
    ("failures[].message", Text),
    ("failures[].site", Text),
    ("failures[].execution", Number),
    ("failures[].count", Number),
    ("failures[].schedule", Text),
    ("failures[].cause", Text),
    ("findings", List),
    ("findings[]", Object),
    ("findings[].kind", Text),
    ("findings[].object", Text),
    ("findings[].message", Text),
    ("findings[].sites", List),
    ("findings[].sites[]", Text),
    ("findings[].pattern", Number),
    ("findings[].confirmed", Truth),
    ("findings[].seen", Truth),
    ("findings[].schedule", Text),
    ("findings[].count", Number),
    ("findings[].inputs", List),
    ("findings[].inputs[]", Text),
    ("coverage", Object),
    ("coverage.*", Object),
    ("coverage.*.covered", Number),
    ("coverage.*.estimated", Number),
    ("coverage.*.required", Number),
    ("coverage.*.tested", Number),
    ("coverage.*.pairs", Number),
    ("coverage.*.history", List),
    ("coverage.*.history[]", Object),
    ("coverage.*.history[].*", Number),
    ("coverage.*.saturation", Object),
    ("coverage.*.saturation.*", Number),
    ("strategies", List),
    ("strategies[]", Object),
    ("strategies[].strategy", Text),
    ("strategies[].trials", Number),
    ("strategies[].failed", Number),
    ("strategies[].executions", Object),
    ("strategies[].executions.*", Number),
    ("strategies[].lower_bounds", Object),
    ("strategies[].lower_bounds.*", Truth),
    ("strategies[].time_s", Object),
    ("strategies[].time_s.*", Number),
    ("strategies[].first_versus_this", Object),
    ("strategies[].first_versus_this.p_corrected", Number),
    ("strategies[].first_versus_this.cliffs_delta", Signed),
    ("strategies[].first_versus_this.magnitude", Text),
    ("trials", List),
    ("trials[]", Object),
    ("trials[].strategy", Text),
    ("trials[].executions", Number),
    ("trials[].elapsed_s", Number),
    ("trials[].failed", Truth),
    ("trials[].end", Text),
    ("trials[].coverage", Object),
    ("trials[].coverage.*", Object),
    ("trials[].coverage.*.history", List),
    ("trials[].coverage.*.history[]", Object),
    ("trials[].coverage.*.history[].*", Number),
    ("trials[].coverage.*.saturation", Object),
    ("trials[].coverage.*.saturation.*", Number),
    ("inputs", List),
    ("inputs[]", Object),
    ("inputs[].name", Text),
    ("inputs[].outcome", Text),
    ("inputs[].message", Text),
    ("inputs[].selected", Truth),
    ("inputs[].pairs", Number),
    ("inputs[].new_pairs", Number),
    ("inputs[].functions_selected", Number),
    ("inputs[].functions_executed", Number),
    ("inputs[].findings", Number),
    ("inputs[].measuring_s", Number),
    ("inputs[].detecting_s", Number),
    ("cfp", Object),
    ("cfp.aggregated", Number),
    ("groups", Object),
    ("groups.tested", Number),
    ("groups.left", Number),
    ("graph", Object),
    ("graph.nodes", Number),
    ("graph.guidelines", Number),
];

/// Without these there is nothing to show.
const REQUIRED: [&str; 2] = ["command", "program"];

impl Kind {
    fn fits(self, value: &Value) -> bool {
        match self {
            Text => value.is_string(),
            Number => value.as_f64().is_some_and(|number| number >= 0.0),
            Signed => value.is_number(),
            Truth => value.is_boolean(),
            List => value.is_array(),
            Object => value.is_object(),
            Verdict => {
                matches!(value.as_str(), Some("failure" | "findings" | "clean" | "exhausted" | "undecided"))
            }
        }
    }

    fn phrase(self) -> &'static str {
        match self {
            Text => "a text",
            Number => "a number that is not negative",
            Signed => "a number",
            Truth => "true or false",
            List => "a list",
            Object => "an object",
            Verdict => "a verdict",
        }
    }
}

/// What is wrong with an object, in words; none if nothing is.
pub fn damage(report: &Value) -> Option<String> {
    if !report.is_object() {
        return Some("`report` is not an object".to_string());
    }
    if let Some(missing) = REQUIRED.into_iter().find(|name| report[name].is_null()) {
        return Some(format!("`report.{missing}` is missing"));
    }
    SHAPE.iter().find_map(|(path, kind)| {
        let steps: Vec<&str> = path.split('.').collect();
        misfit(report, &steps, *kind, "report".to_string())
    })
}

/// The first value on a path that is of another kind.
fn misfit(value: &Value, steps: &[&str], kind: Kind, at: String) -> Option<String> {
    let Some((step, rest)) = steps.split_first() else {
        return (!value.is_null() && !kind.fits(value)).then(|| format!("`{at}` is not {}", kind.phrase()));
    };
    // What is no object or list where there should be one is reported by a rule of its own.
    if *step == "*" {
        let mut fields = value.as_object()?.iter();
        return fields.find_map(|(name, it)| misfit(it, rest, kind, format!("{at}.{name}")));
    }
    let name = step.trim_end_matches("[]");
    let field = value.get(name)?;
    if name == *step {
        return misfit(field, rest, kind, format!("{at}.{name}"));
    }
    let mut list = field.as_array()?.iter().enumerate();
    list.find_map(|(place, it)| misfit(it, rest, kind, format!("{at}.{name}[{place}]")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_missing_or_of_another_kind_is_named_with_its_place() {
        let sound = json!({
            "command": "hunt", "program": "bank.c", "verdict": "clean", "failure": null,
            "findings": [{ "kind": "race", "sites": ["bank.c:1"], "pattern": null }],
            "coverage": { "sp": null, "map": { "covered": 3, "history": [{ "executions": 1, "covered": 3 }] } },
        });
        assert_eq!(damage(&sound), None);
        for (path, value, said) in [
            ("/command", json!(null), "`report.command` is missing"),
            ("/verdict", json!("fine"), "`report.verdict` is not a verdict"),
            ("/findings", json!({}), "`report.findings` is not a list"),
            ("/findings/0", json!(7), "`report.findings[0]` is not an object"),
            ("/findings/0/sites/0", json!(7), "`report.findings[0].sites[0]` is not a text"),
            (
                "/coverage/map/history/0/covered",
                json!(-3),
                "`report.coverage.map.history[0].covered` is not a number that is not negative",
            ),
        ] {
            let mut broken = sound.clone();
            *broken.pointer_mut(path).expect("a value") = value;
            assert_eq!(damage(&broken).as_deref(), Some(said));
        }
        assert_eq!(damage(&json!([])).as_deref(), Some("`report` is not an object"));
    }
}
