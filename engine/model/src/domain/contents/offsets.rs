//! Offsets that an address may have, as spans of bytes.
//!
//! A copy into an element of an array does not change the members beside it in other elements. That
//! is seen only if the offsets are considered one by one: the span from the first to the last
//! offset includes those members.

use super::END;
use crate::domain::num::Num;

/// The most offsets that are considered one by one.
pub(super) const OFFSETS: u64 = 24;

/// Returns the offsets one by one, if there are at most `most` of them.
pub fn few(at: &Num, most: u64) -> Option<impl Iterator<Item = u32>> {
    let (low, high) = (u32::try_from(at.least).ok()?, u32::try_from(at.most).ok()?);
    let step = match at.step {
        0 => 1,
        step => step,
    };
    let count = u64::from(high.checked_sub(low)?) / step;
    (count < most).then(|| (low..=high).step_by(step as usize))
}

/// The bytes that an access of `len` bytes at one of these offsets may touch.
pub fn span(offset: &Num, len: u64) -> (u32, u32) {
    let low = u32::try_from(offset.least.max(0)).unwrap_or(END);
    let end = i128::from(offset.most) + i128::from(len);
    (low, u32::try_from(end.max(0)).unwrap_or(END))
}

/// As [`span`], but with a span for each offset if the offsets are few and the spans do not touch.
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
        // The spans touch, or there are too many.
        assert_eq!(spans(&stepped(34, 70), 34), [(2, 104)]);
        assert_eq!(spans(&stepped(34, 2 + 34 * 24), 32), [(2, 850)]);
        assert_eq!(spans(&Num::between(64, 7, 7).unwrap(), 5), [(7, 12)]);
    }
}
