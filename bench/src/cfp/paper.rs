//! The paper's own figures, by subject: "Efficient Concurrency-Bug Detection Across Inputs", Tables 2 to 7 and 10 to 12.

/// What the paper has for one kind of findings.
pub struct PaperKind {
    /// Table 2: reports, unique reports, and those that are bugs.
    pub reports: [u32; 4],
    /// Tables 3 and 4: speed-up, and unique findings that were missed.
    pub speedup: f64,
    /// Findings that were missed.
    pub missed: u32,
    /// Table 6: inputs that report a finding, in full and in guided detection.
    pub duplication: [f64; 2],
    /// Table 7: step 3 and full detection, as multiples of the base time.
    pub times: [f64; 2],
    /// Table 12: speed-up without function selection.
    pub inputs_only: f64,
}

/// What the paper has for one program.
pub struct Paper {
    /// The program that ours has the shape of.
    pub name: &'static str,
    /// Table 3: the share of the trace that was saved, in percent.
    pub trace_reduction: u32,
    /// Table 5: inputs and functions, in full and in guided detection.
    pub inputs: [u32; 2],
    /// Functions in full and in guided detection, summed over inputs.
    pub functions: [u32; 2],
    /// Table 10: step 1 as a multiple of the base time, for no optimization, the first, the second, and both.
    pub step1: [f64; 4],
    /// Table 11: functions, executed functions, and pairs.
    pub sizes: [u32; 3],
    /// Races.
    pub races: PaperKind,
    /// Atomicity violations.
    pub atomicity: PaperKind,
}

/// The paper's figures for the program that a subject has the shape of.
pub fn of(subject: &str) -> Option<&'static Paper> {
    let place = ["router", "fft", "lu", "script", "compress"].iter().position(|name| *name == subject)?;
    PAPERS.get(place)
}

static PAPERS: [Paper; 5] = [
    Paper {
        name: "Click",
        trace_reduction: 82,
        inputs: [6, 4],
        functions: [3689, 724],
        step1: [18.36, 17.24, 1.95, 1.79],
        sizes: [1889, 964, 2504],
        races: PaperKind {
            reports: [3114, 848, 6, 1],
            speedup: 3.5,
            missed: 17,
            duplication: [3.6, 1.2],
            times: [23.72, 87.27],
            inputs_only: 1.9,
        },
        atomicity: PaperKind {
            reports: [6145, 2298, 6, 1],
            speedup: 2.5,
            missed: 46,
            duplication: [2.7, 1.8],
            times: [10.63, 30.40],
            inputs_only: 1.4,
        },
    },
    Paper {
        name: "FFT",
        trace_reduction: 82,
        inputs: [8, 1],
        functions: [135, 21],
        step1: [3.10, 2.89, 2.44, 1.94],
        sizes: [23, 23, 42],
        races: PaperKind {
            reports: [300, 66, 28, 4],
            speedup: 6.2,
            missed: 3,
            duplication: [4.5, 1.0],
            times: [170.66, 1078.22],
            inputs_only: 6.2,
        },
        atomicity: PaperKind {
            reports: [1423, 369, 35, 5],
            speedup: 5.6,
            missed: 11,
            duplication: [3.8, 1.3],
            times: [109.95, 628.71],
            inputs_only: 5.6,
        },
    },
    Paper {
        name: "LU",
        trace_reduction: 76,
        inputs: [8, 1],
        functions: [122, 18],
        step1: [74.13, 72.65, 1.97, 1.89],
        sizes: [21, 21, 62],
        races: PaperKind {
            reports: [238, 58, 28, 4],
            speedup: 4.9,
            missed: 1,
            duplication: [4.1, 1.0],
            times: [41.53, 212.76],
            inputs_only: 4.9,
        },
        atomicity: PaperKind {
            reports: [874, 163, 21, 3],
            speedup: 4.8,
            missed: 7,
            duplication: [5.4, 1.1],
            times: [41.26, 207.12],
            inputs_only: 4.8,
        },
    },
    Paper {
        name: "Mozilla-JS",
        trace_reduction: 39,
        inputs: [7, 5],
        functions: [1583, 857],
        step1: [7.44, 5.78, 5.81, 4.48],
        sizes: [1050, 268, 22970],
        races: PaperKind {
            reports: [1991, 481, 42, 6],
            speedup: 1.5,
            missed: 14,
            duplication: [4.1, 2.2],
            times: [60.39, 99.24],
            inputs_only: 1.3,
        },
        atomicity: PaperKind {
            reports: [2459, 723, 42, 7],
            speedup: 1.6,
            missed: 14,
            duplication: [3.4, 2.8],
            times: [39.85, 69.88],
            inputs_only: 1.3,
        },
    },
    Paper {
        name: "PBZIP2",
        trace_reduction: 75,
        inputs: [8, 2],
        functions: [782, 135],
        step1: [1.14, 1.09, 1.09, 1.06],
        sizes: [125, 125, 426],
        races: PaperKind {
            reports: [293, 65, 32, 8],
            speedup: 3.8,
            missed: 2,
            duplication: [4.5, 1.2],
            times: [4.87, 19.84],
            inputs_only: 3.2,
        },
        atomicity: PaperKind {
            reports: [499, 143, 39, 11],
            speedup: 2.4,
            missed: 6,
            duplication: [3.5, 1.2],
            times: [1.38, 5.93],
            inputs_only: 2.3,
        },
    },
];
