//! Instructions that ask the processor or the system for something past everybody who could notice.

use crate::image::Image;
use crate::{Code, CodeFunction};

/// Such an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct HiddenInput {
    /// The address after it, as sites have it.
    pub after: u64,
    /// What it is called.
    pub name: &'static str,
}

impl Code {
    /// The instructions of these functions that read clocks, draw random numbers, ask which processor it is, or enter the system.
    pub fn hidden_inputs(&self, are_of_interest: impl Fn(&CodeFunction) -> bool) -> Vec<HiddenInput> {
        let Ok(image) = Image::parse(&self.bytes) else { return Vec::new() };
        let functions = self.functions().iter().filter(|function| are_of_interest(function));
        let code = functions
            .filter_map(|function| Some((function.start, image.code(function.start, function.end)?)));
        let found = code.flat_map(|(start, code)| {
            let instructions = image.instruction_set.decode(code, start).into_iter();
            instructions.filter_map(|it| Some(HiddenInput { after: it.next(), name: it.hidden_input? }))
        });
        found.collect()
    }
}

impl CodeFunction {
    /// Whether the compiler has put announcements into it.
    pub fn is_instrumented(&self) -> bool {
        use crate::Callee::Import;
        self.calls.iter().any(|call| matches!(&call.to, Import(name) if name.starts_with("__tsan_")))
    }
}
