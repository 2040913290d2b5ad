//! Changes of values in all registers and all memory at once: an object gets another name, or no
//! longer exists.

use std::sync::Arc;

use super::contents::{END, Filling};
use super::linear::{ANY, Var};
use super::num::Num;
use super::space::{GONE, ObjId, Object};
use super::state::State;
use super::value::Value;

impl State {
    /// Removes objects; pointers to them become pointers to [`GONE`].
    pub fn remove(&mut self, gone: &[ObjId]) {
        let is_there = |var| match var {
            Var::Cell(id, ..) | Var::Size(id) | Var::Nul(id, _) | Var::Row(id, ..) => {
                !gone.contains(&id)
            }
            Var::Reg(_) | Var::Outer(..) => true,
        };
        self.lines.keep(is_there, &|_| ANY);
        self.without_nuls(|id| gone.contains(&id));
        gone.iter()
            .for_each(|id| Arc::make_mut(&mut self.owners).written(*id, (0, END)));
        let turned = |value: &Value| -> Option<Value> {
            value.ptr.iter().any(|(id, _)| gone.contains(id)).then(|| {
                let mut value = value.clone();
                value
                    .ptr
                    .retain(|(id, _)| !gone.contains(id) && *id != GONE);
                value.ptr.push((GONE, Num::all(64)));
                value
            })
        };
        self.turn(&turned);
        if gone.iter().any(|id| self.objects.contains_key(id)) {
            let objects = Arc::make_mut(&mut self.objects);
            for id in gone {
                objects.remove(id);
            }
        }
        self.cells.retain(|_, cell| !gone.contains(&cell.object));
    }

    /// Changes values in registers and in memory; `turned` returns `None` for a value that stays.
    pub(super) fn turn(&mut self, turned: &impl Fn(&Value) -> Option<Value>) {
        for value in self.registers.values_mut() {
            if let Some(new) = turned(value) {
                *value = new;
            }
        }
        let is_touched = |object: &Object| {
            object.contents.runs().any(|(_, run)| match &run.filling {
                Filling::Each(_, value) => turned(value).is_some(),
                Filling::Image(..) => false,
            })
        };
        let touched = self.objects.iter().filter(|(_, object)| is_touched(object));
        let touched: Vec<ObjId> = touched.map(|(id, _)| *id).collect();
        if touched.is_empty() {
            return;
        }
        let objects = Arc::make_mut(&mut self.objects);
        for id in touched {
            if let Some(object) = objects.get_mut(&id) {
                Arc::make_mut(&mut object.contents).change(&mut |value, _| turned(value));
            }
        }
    }
}
