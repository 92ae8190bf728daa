//! The one list of where axi deliberately does not show markdown as the specifications' HTML would.

/// What makes a deviating example conform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Its link definitions moved before their uses.
    DefinitionsFirst,
    /// Nothing: the choice is ours.
    None,
}

/// Examples that deviate for one reason.
pub(crate) struct Deviation {
    /// `commonmark` or `gfm`.
    pub(crate) suite: &'static str,
    /// The numbers of the examples.
    pub(crate) examples: &'static [u64],
    /// Why.
    pub(crate) reason: &'static str,
    /// How the example is to be seen all the same.
    pub(crate) remedy: Remedy,
}

const LATE: &str = "A definition that follows its use is known too late: rows that are out never change. The use stays as it \
    is written, and the definition is shown, so that nothing is lost. A definition whose uses all follow it is not shown.";
const ONE_LINE: &str = "A definition is read from one line. Over several it is text: each line would have to be held back \
    until the next one comes.";
const IMAGE: &str = "What stands for an image keeps its emphasis; the HTML keeps its letters only.";
const BARE: &str = "Bare addresses are links, as GFM has it and models write them.";

/// All deviations. An example that is listed and does not deviate fails the test, so that the list stays true.
pub(crate) const DEVIATIONS: &[Deviation] = &[
    Deviation {
        suite: "commonmark",
        examples: &[
            23, 33, 205, 206, 216, 220, 529, 530, 531, 532, 533, 534, 535, 536, 537, 541, 542, 544, 545, 551, 555,
            556, 557, 558, 559, 560, 561, 562, 563, 564, 567, 568, 570, 571, 572, 573, 584, 585, 586, 588, 589,
            590, 593, 595,
        ],
        reason: LATE,
        remedy: Remedy::DefinitionsFirst,
    },
    Deviation {
        suite: "gfm",
        examples: &[
            172, 173, 183, 187, 319, 329, 535, 536, 537, 538, 539, 540, 541, 542, 543, 547, 548, 550, 551, 557,
            561, 562, 563, 564, 565, 566, 567, 568, 569, 570, 573, 574, 576, 577, 578, 579, 590, 591, 592, 594,
            595, 596, 599, 601,
        ],
        reason: LATE,
        remedy: Remedy::DefinitionsFirst,
    },
    Deviation {
        suite: "commonmark",
        examples: &[195, 197, 198, 200, 210, 219, 543],
        reason: ONE_LINE,
        remedy: Remedy::None,
    },
    Deviation {
        suite: "gfm",
        examples: &[162, 164, 165, 167, 177, 186, 549],
        reason: ONE_LINE,
        remedy: Remedy::None,
    },
    Deviation { suite: "commonmark", examples: &[604, 610, 613, 614], reason: BARE, remedy: Remedy::None },
    Deviation { suite: "gfm", examples: &[610, 616, 619, 620], reason: BARE, remedy: Remedy::None },
    Deviation { suite: "commonmark", examples: &[575, 578, 579, 587, 591], reason: IMAGE, remedy: Remedy::None },
    Deviation { suite: "gfm", examples: &[581, 584, 585, 593, 597], reason: IMAGE, remedy: Remedy::None },
];

/// A choice that no example of the specifications shows.
pub(crate) struct Choice {
    /// A document.
    pub(crate) markdown: &'static str,
    /// The rows it gives at 40 columns, without styles.
    pub(crate) rows: &'static [&'static str],
    /// Why.
    pub(crate) reason: &'static str,
}

/// What was chosen where the specifications say otherwise, or nothing.
///
/// One choice has no short example: emphasis, code spans, links and tags reach at most 2,048 bytes from their opener to
/// their closer (maths between single `$` 128), so that what is held back, and its cost, have a limit.
pub(crate) const CHOICES: &[Choice] = &[
    Choice {
        markdown: "A paragraph that is longer than one row of forty\n---\n",
        rows: &[
            "A paragraph that is longer than one row",
            "of forty",
            "",
            "────────────────────────────────────────",
        ],
        reason: "A row that is out never changes: an underline makes a heading only of what fits one row, and is a rule \
            or text under more. Models write `---` for a rule.",
    },
    Choice {
        markdown: "A first cell of more than forty characters, | b\n--- | ---\nx | y\n",
        rows: &["A first cell of more than forty", "characters, | b --- | --- x | y"],
        reason: "A line that may head a table is held back, so its first bar must stand within forty characters. Models \
            begin the line with one; else it may have no more than 160.",
    },
    Choice {
        markdown: "- a\n- b\n\n- c\n",
        rows: &["• a", "• b", "", "• c"],
        reason: "Whether a list is loose is known at its end; so each gap is as it is in the source.",
    },
    Choice {
        markdown: "about ~5 or ~6~ of them",
        rows: &["about ~5 or ~6~ of them"],
        reason: "One tilde strikes nothing: it stands before numbers far more often.",
    },
    Choice {
        markdown: "これは**「強調」**です",
        rows: &["これは**「強調」**です"],
        reason: "Emphasis beside Chinese, Japanese and Korean punctuation is read, though no space stands there.",
    },
    Choice {
        markdown: "中文\n换行 and\nwords",
        rows: &["中文换行 and words"],
        reason: "A line end between wide letters is no space: these scripts have none.",
    },
    Choice {
        markdown: "\\(a_1 * b_1\\) and $x_1 * y_1$",
        rows: &["a₁ * b₁ and x₁ * y₁"],
        reason: "Maths is said in one row or stays source: its stars, underscores and backslashes are not markdown's.",
    },
    Choice {
        markdown: "one<br>two",
        rows: &["one", "two"],
        reason: "Models write `<br>` for a line break; other HTML is shown as text.",
    },
    Choice {
        markdown: "```md\n```sh\nx\n```\n```\nafter\n",
        rows: &["```sh", "x", "```", "", "after"],
        reason: "In a fence of markdown a fence with a language closes itself: models nest fences of one length.",
    },
    Choice {
        markdown: "> quote\n> ```\n> code\n> ```\n",
        rows: &["│ quote", "│", "code"],
        reason: "Code stands at column 0 wherever it is, so that a copy is the code.",
    },
    Choice {
        markdown: "> [!NOTE]\n> Mind this.\n",
        rows: &["│ NOTE", "│ Mind this."],
        reason: "GitHub's alerts: the kind stands on a row of its own, in the source's word.",
    },
    Choice {
        markdown: "A note[^1].\n\n[^1]: Its text.\n",
        rows: &["A note[1].", "", "[1] Its text."],
        reason: "A footnote stands where it is written: rows that are out cannot be counted again.",
    },
    Choice {
        markdown: "<think>\nhm\n</think>\nAnswer\n",
        rows: &["hm", "", "Answer"],
        reason: "Reasoning that a model leaks in tags is shown dim, and told to the caller.",
    },
    Choice {
        markdown: DEEP,
        rows: &["│ │ │ │ │ │ │ │ >> x"],
        reason: "A hundred containers stand in each other, the document among them, and no more: each row would cost as \
            many steps, and a model that says `>` over and over would stop everything.",
    },
];

/// 101 signs of a quote.
const DEEP: &str = concat!(
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>",
    ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> x"
);
