//! Reading ahead of an answer: what stands before is likely to be said again, in an edit or a quote.
//!
//! The tokens that followed the last few where they stood before are read together with the last one. The answer goes
//! on as it would without them: each token is chosen from what the same numbers make likely, and what was read in vain
//! is forgotten. It costs little, because the weights are taken from memory once for all of them; where a processor has
//! no way to do that, nothing is read ahead.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use super::network::{EXACT, Memory, Network, Next};

/// How many tokens must have stood before.
const SAME: usize = 3;
/// The most tokens that are read ahead: with the last one, as many as come to the same when they are read together.
const MOST: usize = EXACT - 1;

/// What was read ahead of the answer.
#[derive(Debug)]
pub(super) struct SpeculativeTokens {
    /// Tokens that are in memory behind those of the answer, with what each makes likely.
    read: VecDeque<(u32, Vec<f32>)>,
    /// How many are tried next: more where they were right, fewer where not.
    length: usize,
}

impl Default for SpeculativeTokens {
    fn default() -> Self {
        Self { read: VecDeque::new(), length: MOST.div_ceil(2) }
    }
}

impl SpeculativeTokens {
    /// Forgets what was read ahead; the caller shortens the memory.
    pub(super) fn clear(&mut self) {
        self.read.clear();
    }

    /// Reads the last of `tokens`, whose others are in memory, and says what it makes likely. `None` when stopped.
    pub(super) fn read(
        &mut self,
        network: &Network,
        tokens: &[u32],
        memory: &mut Memory,
        stop: &AtomicBool,
    ) -> Option<Vec<f32>> {
        let (last, before) = tokens.split_last()?;
        if let Some((token, likely)) = self.read.pop_front() {
            if token == *last {
                if self.read.is_empty() {
                    self.length = (self.length * 2).min(MOST);
                }
                return Some(likely);
            }
            self.length = (self.length / 2).max(1);
            self.read.clear();
        }
        memory.truncate(before.len(), network.shape());
        let mut pass = vec![*last];
        if network.saves_together() {
            let room = network.shape().context.saturating_sub(tokens.len());
            pass.extend_from_slice(followers(tokens, self.length.min(room)));
        }
        let mut all = network.read(&pass, memory, Next::Each, stop)?;
        let each = all.len() / pass.len();
        for (index, token) in pass.iter().enumerate().skip(1) {
            self.read.push_back((*token, all[index * each..][..each].to_vec()));
        }
        all.truncate(each);
        Some(all)
    }
}

/// What followed the last few tokens where they stood before, the latest time.
fn followers(tokens: &[u32], most: usize) -> &[u32] {
    let Some((_, last)) = tokens.split_last_chunk::<SAME>() else { return &[] };
    let Some(end) = (SAME..tokens.len()).rev().find(|end| tokens[..*end].ends_with(last)) else { return &[] };
    &tokens[end..tokens.len().min(end + most)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::gguf::Gguf;
    use super::super::likely::choose;
    use super::super::network::tests::Model;
    use super::*;

    #[test]
    fn what_followed_the_latest_time_is_expected_to_follow_again() {
        assert_eq!(followers(&[1, 2, 3, 4, 5, 1, 2, 3, 6, 7, 1, 2, 3], 2), [6, 7]);
        assert_eq!(followers(&[1, 2, 3, 4, 1, 2, 3], 9), [4, 1, 2, 3]);
        assert_eq!(followers(&[8, 8, 8, 8], 5), [8]);
        assert!(followers(&[1, 2, 3, 1, 2], 5).is_empty());
        assert!(followers(&[1, 2], 5).is_empty());
    }

    #[test]
    fn an_answer_in_circles_is_read_ahead() {
        let folder = tempfile::tempdir().unwrap();
        let file = Gguf::open(&Model::write(folder.path())).unwrap();
        let network = Network::new(&file, 1).unwrap();
        if !network.saves_together() {
            return;
        }
        let stop = AtomicBool::new(false);
        let (mut ahead, mut memory, mut tokens) =
            (SpeculativeTokens::default(), Memory::new(network.shape()), vec![2, 3, 4, 2, 3]);
        network.read(&tokens, &mut memory, Next::Wanted, &stop).unwrap();
        let mut hits = 0;
        for step in 0..60 {
            tokens.push([4, 2, 3][step % 3]);
            hits += usize::from(!ahead.read.is_empty());
            ahead.read(&network, &tokens, &mut memory, &stop).unwrap();
        }
        assert!(hits >= 40, "{hits} of 60 were in memory");
    }

    #[test]
    fn where_reading_together_saves_nothing_each_token_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = Gguf::open(&Model::write(folder.path())).unwrap();
        let mut network = Network::new(&file, 1).unwrap();
        network.arithmetic.vector = None;
        let stop = AtomicBool::new(false);
        let (mut ahead, mut memory) = (SpeculativeTokens::default(), Memory::new(network.shape()));
        let mut tokens = vec![2, 3, 4, 2, 3];
        network.read(&tokens, &mut memory, Next::Wanted, &stop).unwrap();
        for step in 0..20 {
            tokens.push([4, 2, 3][step % 3]);
            ahead.read(&network, &tokens, &mut memory, &stop).unwrap();
            assert_eq!((memory.length, ahead.read.len()), (tokens.len(), 0));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// The same tokens, and the same numbers to the last bit, as one by one; also when the answer is taken back.
        #[test]
        fn an_answer_is_the_same_with_and_without_reading_ahead(
            prompt in prop::collection::vec(0_u32..7, 3..40),
            taken_back in prop::collection::vec((4_usize..40, 1_usize..4), 0..3),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let file = Gguf::open(&Model::write(folder.path())).unwrap();
            let network = Network::new(&file, 1).unwrap();
            let stop = AtomicBool::new(false);
            let mut ahead = SpeculativeTokens::default();
            let (mut plain, mut memory) = (Memory::new(network.shape()), Memory::new(network.shape()));
            let mut likely = network.read(&prompt, &mut plain, Next::Wanted, &stop).unwrap();
            network.read(&prompt, &mut memory, Next::Wanted, &stop).unwrap();
            let mut tokens = prompt;
            for step in 0..40 {
                if let Some((_, count)) = taken_back.iter().find(|(at, _)| *at == step) {
                    tokens.truncate(tokens.len() - count);
                    plain.truncate(tokens.len(), network.shape());
                    ahead.clear();
                }
                let said = tokens.len().saturating_sub(8);
                let token = choose(&mut likely, &tokens[said..]);
                tokens.push(token);
                let expected = network.read(&[token], &mut plain, Next::Wanted, &stop).unwrap();
                likely = ahead.read(&network, &tokens, &mut memory, &stop).unwrap();
                prop_assert_eq!(&likely, &expected, "step {} of {:?}", step, tokens);
            }
        }
    }
}
