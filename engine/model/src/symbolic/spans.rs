//! Ranges of bytes in an object.

/// A range of bytes in an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// The offset of the first byte.
    pub low: u32,
    /// The offset after the last byte.
    pub high: u32,
}

impl Span {
    /// All bytes of any object.
    pub const ALL: Span = Span {
        low: 0,
        high: u32::MAX,
    };

    /// Whether the span contains some of the `len` bytes from `offset` on.
    pub fn overlaps(self, offset: u32, len: u32) -> bool {
        offset < self.high && offset.saturating_add(len) > self.low
    }
}

/// A set of bytes of an object, as ordered spans that neither overlap nor touch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Spans(Vec<Span>);

impl Spans {
    /// The spans in order.
    pub fn iter(&self) -> impl Iterator<Item = &Span> {
        self.0.iter()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the set contains some of the `len` bytes from `offset` on.
    pub fn overlaps(&self, offset: u32, len: u32) -> bool {
        self.0.iter().any(|span| span.overlaps(offset, len))
    }

    /// The end of the span that contains the byte at `offset`, if there is one.
    pub fn end(&self, offset: u32) -> Option<u32> {
        let around = self.0.iter().find(|span| span.overlaps(offset, 1));
        around.map(|span| span.high)
    }

    /// The number of bytes of the set among the first `size` bytes of the object.
    pub fn bytes(&self, size: u32) -> u32 {
        let within = |span: &Span| span.high.min(size).saturating_sub(span.low);
        self.0.iter().map(within).sum()
    }

    /// Adds a span. Returns whether some of its bytes are new.
    pub fn add(&mut self, span: Span) -> bool {
        if self
            .0
            .iter()
            .any(|s| s.low <= span.low && s.high >= span.high)
        {
            return false;
        }
        let mut all = span;
        self.0.retain(|s| {
            let apart = s.high < all.low || s.low > all.high;
            if !apart {
                all.low = all.low.min(s.low);
                all.high = all.high.max(s.high);
            }
            apart
        });
        let at = self.0.partition_point(|s| s.low < all.low);
        self.0.insert(at, all);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_touch_become_one() {
        let mut spans = Spans::default();
        let span = |low, high| Span { low, high };
        assert!(spans.add(span(16, 24)) && spans.add(span(0, 8)) && !spans.add(span(2, 8)));
        assert!(spans.overlaps(7, 1) && !spans.overlaps(8, 8) && spans.overlaps(8, 9));
        assert_eq!((spans.end(17), spans.end(8)), (Some(24), None));
        assert_eq!((spans.bytes(32), spans.bytes(20)), (16, 12));
        assert!(spans.add(span(8, 16)));
        assert_eq!(spans.0, [span(0, 24)]);
    }
}
