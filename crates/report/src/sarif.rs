//! Findings and failures as SARIF 2.1.0, the format code-review tools read.

mod failure;
mod rules;

pub use failure::failure_result;
pub use rules::Rule;

use serde_json::{Map, Value, json};
use threadbare_trace::ThreadId;

use crate::SourcePlace;

/// How bad a result is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Level {
    /// It happened.
    Error,
    /// It can happen.
    Warning,
    /// It is worth knowing.
    Note,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// One step on the way to a failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FlowStep {
    /// The thread that made it.
    pub thread: ThreadId,
    /// Where.
    pub place: Option<SourcePlace>,
    /// What it did, such as `write balance 0 → 1`.
    pub text: String,
}

/// One finding or failure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SarifResult {
    /// What sort of thing it is.
    pub rule: Rule,
    /// How bad it is.
    pub level: Level,
    /// The sentence a person reads.
    pub message: String,
    /// Where it shows.
    pub place: Option<SourcePlace>,
    /// Other places that have to do with it, and how.
    pub related: Vec<(SourcePlace, String)>,
    /// The calls in progress where it shows, from the inside out.
    pub stack: Vec<SourcePlace>,
    /// An interleaving that leads to it, in the order the steps were made; may be empty.
    pub flow: Vec<FlowStep>,
    /// What makes it the same result in another version of the program: functions and objects
    /// rather than line numbers.
    pub identity: Vec<String>,
    /// Further facts by name, such as the schedule file.
    pub properties: Vec<(&'static str, String)>,
}

/// The base of relative paths: where the tool was started.
const ROOT: &str = "%SRCROOT%";

/// The text of a SARIF file. `command` is the command that found the results.
pub fn sarif(results: &[SarifResult], version: &str, command: &str) -> String {
    let log = json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "threadbare",
                "version": version,
                "semanticVersion": version,
                "shortDescription": { "text": "Finds failing thread interleavings of C, C++ and Rust programs." },
                "rules": Rule::ALL.iter().map(|rule| rule.descriptor()).collect::<Vec<_>>(),
            } },
            "automationDetails": { "id": format!("threadbare/{command}/") },
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "The folder in which threadbare was started." } },
            },
            "results": results.iter().map(result).collect::<Vec<_>>(),
        }],
    });
    let mut text = serde_json::to_string_pretty(&log).unwrap_or_default();
    text.push('\n');
    text
}

fn result(result: &SarifResult) -> Value {
    let mut value = json!({
        "ruleId": result.rule.id(),
        "ruleIndex": result.rule.index(),
        "level": result.level.word(),
        "message": { "text": result.message },
        "locations": result.place.iter().map(|place| location(place, None)).collect::<Vec<_>>(),
        "partialFingerprints": { "threadbareIdentity/v1": fingerprint(result) },
    });
    let mut add = |key: &str, part: Value| value[key] = part;
    if !result.related.is_empty() {
        let related = result.related.iter().enumerate().map(|(index, (place, how))| {
            let mut related = location(place, Some(how));
            related["id"] = json!(index + 1);
            related
        });
        add("relatedLocations", related.collect());
    }
    if !result.stack.is_empty() {
        let frames = result.stack.iter().map(|place| json!({ "location": location(place, None) }));
        add("stacks", json!([{ "frames": frames.collect::<Vec<_>>() }]));
    }
    if !result.flow.is_empty() {
        add("codeFlows", json!([code_flow(&result.flow)]));
    }
    if !result.properties.is_empty() {
        let properties = result.properties.iter().map(|(key, text)| (key.to_string(), json!(text)));
        add("properties", Value::Object(properties.collect::<Map<_, _>>()));
    }
    value
}

/// An interleaving: a flow for each thread, with the order of the steps over all threads.
fn code_flow(flow: &[FlowStep]) -> Value {
    let mut threads: Vec<ThreadId> = Vec::new();
    flow.iter().for_each(|step| {
        if !threads.contains(&step.thread) {
            threads.push(step.thread);
        }
    });
    let thread_flow = |thread: &ThreadId| {
        let steps = flow.iter().enumerate().filter(|(_, step)| step.thread == *thread);
        let steps = steps.map(|(index, step)| {
            let place = step.place.as_ref();
            let at = place.map_or_else(|| message(&step.text), |place| location(place, Some(&step.text)));
            json!({ "location": at, "executionOrder": index + 1 })
        });
        json!({ "id": thread.to_string(), "locations": steps.collect::<Vec<_>>() })
    };
    json!({ "threadFlows": threads.iter().map(thread_flow).collect::<Vec<_>>() })
}

fn message(text: &str) -> Value {
    json!({ "message": { "text": text } })
}

/// A place with its source line if it has one, and its function.
fn location(place: &SourcePlace, text: Option<&str>) -> Value {
    let mut location = json!({});
    if let (Some(file), Some(line @ 1..)) = (&place.file, place.line) {
        let mut region = json!({ "startLine": line });
        if let Some(column @ 1..) = place.column {
            region["startColumn"] = json!(column);
        }
        location["physicalLocation"] = json!({ "artifactLocation": artifact(file), "region": region });
    }
    if let Some(function) = &place.function {
        let logical = json!({ "fullyQualifiedName": function, "kind": "function" });
        location["logicalLocations"] = json!([logical]);
    }
    if let Some(text) = text {
        location["message"] = json!({ "text": text });
    }
    location
}

/// A file as a URI: relative to where the tool was started, or absolute.
fn artifact(file: &str) -> Value {
    let path = file.strip_prefix("./").unwrap_or(file);
    let kept = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let encoded: String = path
        .bytes()
        .map(|byte| if kept(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    if path.starts_with('/') {
        json!({ "uri": format!("file://{encoded}") })
    } else {
        json!({ "uri": encoded, "uriBaseId": ROOT })
    }
}

/// The same for the same result in another version of the program (FNV-1a).
fn fingerprint(result: &SarifResult) -> String {
    let parts = std::iter::once(result.rule.id()).chain(result.identity.iter().map(String::as_str));
    // A byte that is in no text separates the parts.
    let bytes = parts.flat_map(|part| part.bytes().chain([0xff]));
    let hash = bytes
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}
