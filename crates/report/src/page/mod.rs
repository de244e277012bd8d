//! A campaign as one page that is opened in a browser: made of the record that a command leaves in its folder, and of
//! the trace files beside it. The page's own program is in `page/*.js`, written by hand and taken in as it is.

mod html;
mod interleaving;
mod links;
mod record;
mod schema;
mod sources;

pub use html::{Page, PageCampaign, PageInterleavings};
pub use interleaving::PageInterleaving;
pub use record::{
    CampaignRecord, Excerpt, FailureFiles, FindingCard, GraphCard, GraphCards, GraphNode, GuidelineCard,
    LongOriginal, Matrix, MatrixRow, PatternCard, QuestionCard, RECORD_EXTENSION, RECORD_VERSION,
    RecordError, Subject, Uncovered,
};
pub use sources::excerpts;
