//! Events as a person sees them: styled lines on the screen, a status row, questions.
//!
//! [`Painter`] paints rows and knows the looks and the words; the keyboard and the questions are parts of their own;
//! [`Human`] puts them together as one front end.

mod again;
mod asked;
mod attention;
mod diff;
mod explorers;
mod finished;
mod keyboard;
mod lend;
mod looks;
mod painter;
mod progress;
mod propose;
mod prose;
mod question;
<<<<<<< HEAD
mod said;
mod turn;
mod work;

use std::io::Write;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::words;
use crate::agent::{AgentEvent, Approval, ApprovalRequest, Frontend};
use crate::config::{ReasoningView, ThemeChoice};

use crate::conversation;
use crate::locale::{Locale, word};
use crate::provider::OWN;
use crate::terminal::{
    Background, FRAME, KeyWatch, Line, Loan, Mark, MarkdownStream, Screen, Theme, Tty, TypeAhead,
};

use crate::tool::{Place, Toolbox};
use paint::{PAINT_STEP, STATUS_STEP};
use turn::Turn;
=======
mod questions;
mod rules;
mod steps;
mod tokens;
mod turns;
>>>>>>> 185c196 (frontend: make of Human a painter, a keyboard, questions and steps)

pub use again::turn;
pub use looks::{Looks, Palette};
pub use painter::Painter;
pub use question::{Answers, Asker, Choice, Nobody, Question};
pub use rules::{Matches, Rules};
pub use turns::{Human, HumanOptions};
