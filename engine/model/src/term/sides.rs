//! Splits a question in two parts.
//!
//! If the index of an array element is a choice between two indices, a solver that decides bit by
//! bit compares it with every other index, and takes it for any of the elements. If the condition
//! of the choice is fixed, each part of the question contains an index that occurs in it anyway.

use super::node::{ArrayNode, Node, Term};
use super::order::Item;
use super::pool::Pool;
use super::rewrite::Rewriter;

/// The condition of a choice in a term with the term where the condition holds, and the negated
/// condition with the term where it does not hold. `None` if the term contains no choice.
pub fn sides(pool: &mut Pool, term: Term) -> Option<[(Term, Term); 2]> {
    let order = pool.order(Item::Term(term), |_| false);
    let mut conditions = order.into_iter().filter_map(|item| match item {
        Item::Term(t) => match *pool.node(t) {
            Node::Ite(condition, _, _) => Some(condition),
            _ => None,
        },
        Item::Array(array) => match pool.array_node(array) {
            ArrayNode::Ite(condition, _, _) => Some(condition),
            _ => None,
        },
    });
    let condition = conditions.next()?;
    let not = pool.not(condition);
    Some([(condition, true), (not, false)].map(|(known, side)| {
        let mut rewriter = Rewriter::new();
        let constant = pool.bit(side);
        rewriter.replace(condition, constant);
        (known, rewriter.apply(pool, term))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ir::Pred;

    #[test]
    fn each_side_has_one_of_two_values() {
        let mut pool = Pool::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| pool.variable(name, 8));
        let less = pool.cmp(Pred::Ult, a, b);
        let least = pool.ite(less, a, b);
        let is_c = pool.eq(least, c);
        let [is_a, is_b] = [a, b].map(|one| pool.eq(one, c));
        let not = pool.not(less);
        assert_eq!(sides(&mut pool, is_c), Some([(less, is_a), (not, is_b)]));
        assert_eq!(sides(&mut pool, is_a), None);
    }
}
