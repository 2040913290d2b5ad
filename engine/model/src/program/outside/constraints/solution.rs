//! The solved constraints: what registers may point to, and what an external function reaches.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::Given;
use crate::program::ir::{FuncId, Program, Reg};
use crate::program::outside::points::PointsTo;
use crate::program::outside::set::Set;
use crate::program::outside::solve::{Node, Object};
use crate::program::outside::{Reached, Site};

/// The solution of the constraints, with the meaning of its numbers.
pub(in crate::program::outside) struct Solution {
    pub(super) holds: Vec<Set>,
    pub(super) sites: FxHashMap<Object, Site>,
    pub(super) functions: FxHashMap<Object, FuncId>,
    pub(super) registers: Vec<Node>,
    pub(super) given: FxHashMap<FuncId, Given>,
    pub(super) kept: Node,
}

impl Solution {
    /// The points-to set of each register of each function.
    pub fn leads(&self, program: &Program) -> Vec<FxHashMap<Reg, Arc<PointsTo>>> {
        let mut known: FxHashMap<Vec<Object>, Arc<PointsTo>> = FxHashMap::default();
        let mut of = |node: Node| -> Option<Arc<PointsTo>> {
            let held = &self.holds[node as usize];
            if held.is_empty() {
                return None;
            }
            let objects: Vec<Object> = held.sorted();
            let leads = known.entry(objects).or_insert_with_key(|objects| {
                let functions = objects
                    .iter()
                    .filter_map(|object| self.functions.get(object));
                let sites = objects.iter().filter_map(|object| self.sites.get(object));
                let mut sites: Vec<Site> = sites.copied().collect();
                sites.sort_unstable();
                Arc::new(PointsTo {
                    sites,
                    functions: functions.copied().collect(),
                })
            });
            Some(Arc::clone(leads))
        };
        let functions = program.functions.iter().zip(&self.registers);
        functions
            .map(|(function, first)| {
                let count = function.registers.len().max(function.params.len()) as u32;
                let all = (0..count).filter_map(|reg| Some((Reg(reg), of(first + reg)?)));
                all.collect()
            })
            .collect()
    }

    /// The objects that an external function can reach.
    pub fn reached(&self, program: &Program, mock: FuncId) -> Reached {
        let mut reached = Reached::default();
        let effects = &program.function(mock).effects;
        if effects.pure {
            return reached;
        }
        let Some(given) = self.given.get(&mock) else {
            return reached;
        };
        let nodes = [given.written, self.kept];
        let held = nodes
            .iter()
            .flat_map(|&node| self.holds[node as usize].sorted());
        for object in held {
            if let Some(&site) = self.sites.get(&object)
                && is_writable(program, site)
            {
                reached.written.insert(site);
            }
        }
        let spared = self.holds[given.constant as usize].sorted().into_iter();
        reached.spares = spared
            .filter_map(|object| self.sites.get(&object))
            .any(|site| is_writable(program, *site) && !reached.written.contains(site));
        if effects.errno
            && let Some(errno) = program.errno()
        {
            reached.written.insert(Site::Global(errno));
        }
        reached
    }
}

fn is_writable(program: &Program, site: Site) -> bool {
    match site {
        Site::Global(global) => !program.globals[global.index()].constant,
        Site::Made(..) => true,
    }
}
