//! Offsets that an address may have, as spans of bytes.
//!
//! What is copied into an element of an array leaves the members beside it in the other elements
//! alone, but only where the offsets are looked at one by one: between the first and the last of
//! them lie these members, too.

use super::END;
use crate::domain::num::Num;

/// Offsets that are looked at one by one.
pub(super) const OFFSETS: u64 = 24;

/// Offsets one by one, where there are no more than so many.
pub fn few(at: &Num, most: u64) -> Option<impl Iterator<Item = u32>> {
    let (low, high) = (u32::try_from(at.least).ok()?, u32::try_from(at.most).ok()?);
    let step = match at.step {
        0 => 1,
        step => step,
    };
    let count = u64::from(high.checked_sub(low)?) / step;
    (count < most).then(|| (low..=high).step_by(step as usize))
}

/// The bytes that `len` of them at one of these offsets may be.
pub fn span(offset: &Num, len: u64) -> (u32, u32) {
    let low = u32::try_from(offset.least.max(0)).unwrap_or(END);
    let end = i128::from(offset.most) + i128::from(len);
    (low, u32::try_from(end.max(0)).unwrap_or(END))
}

/// As [`span`], but a span for each offset where they are few and lie apart.
pub fn spans(offset: &Num, len: u64) -> Vec<(u32, u32)> {
    let apart = few(offset, OFFSETS).filter(|_| offset.step > len);
    let Some(offsets) = apart else {
        return vec![span(offset, len)];
    };
    let end = |at: u32| u32::try_from(u64::from(at) + len).unwrap_or(END);
    offsets.map(|at| (at, end(at))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn elements_apart_have_spans_of_their_own() {
        let stepped = |step, most| Num {
            step,
            rest: 2,
            ..Num::between(64, 2, most).unwrap()
        };
        assert_eq!(spans(&stepped(34, 70), 32), [(2, 34), (36, 68), (70, 102)]);
        // They touch, or there are many.
        assert_eq!(spans(&stepped(34, 70), 34), [(2, 104)]);
        assert_eq!(spans(&stepped(34, 2 + 34 * 24), 32), [(2, 850)]);
        assert_eq!(spans(&Num::between(64, 7, 7).unwrap(), 5), [(7, 12)]);
    }
}
