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
