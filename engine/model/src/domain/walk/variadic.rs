//! `va_start`, with the layout of [`crate::machine`] and [`crate::symbolic`]. In a function that is
//! shared by its calls, the areas hold anything.

use std::sync::Arc;

use super::{Frame, Guide, Walker};
use crate::domain::contents::{Contents, END};
use crate::domain::nul::Ends;
use crate::domain::num::Num;
use crate::domain::recent::Fates;
use crate::domain::space::{Alive, Made, Names, Object};
use crate::domain::state::State;
use crate::domain::value::Value;
use crate::program::ir::{ArgClass, Call, CastKind, CheckId, Operand, Width};

const SAVE_AREA: u32 = 176;
const GENERAL_END: u32 = 48;

/// The arguments of a call beyond the parameters.
pub(super) struct Variadic {
    extra: Vec<(Value, Width, ArgClass)>,
    general: u32,
    sse: u32,
}

/// The register save area and the overflow area, the size of the latter, and the initial offsets.
struct Areas {
    save: Contents,
    overflow: Contents,
    size: Num,
    general: Value,
    sse: Value,
}

impl<G: Guide> Walker<'_, G> {
    /// The arguments of a call beyond the parameters.
    pub(super) fn variadic(
        &self,
        frame: &Frame,
        state: &State,
        call: &Call,
        fixed: usize,
    ) -> Variadic {
        let count = |class: ArgClass| {
            let of_class = call.args[..fixed].iter().filter(|arg| arg.class == class);
            of_class.count() as u32
        };
        let extra = call.args[fixed..].iter().map(|arg| {
            let value = self.get(frame, state, arg.value, arg.width);
            (value, arg.width, arg.class)
        });
        Variadic {
            extra: extra.collect(),
            general: count(ArgClass::Integer),
            sse: count(ArgClass::Sse),
        }
    }

    fn areas(variadic: &Variadic, since: &Fates, names: &Names<'_>) -> Areas {
        let (mut general, mut sse) = (
            variadic.general.min(6) * 8,
            GENERAL_END + variadic.sse.min(8) * 16,
        );
        let first = (general, sse);
        let mut stack = 0u32;
        let (mut save, mut overflow) = (Contents::any(), Contents::any());
        for (value, width, class) in &variadic.extra {
            let (in_registers, offset, size) = match *class {
                ArgClass::Integer if general + 8 <= GENERAL_END => {
                    general += 8;
                    (true, general - 8, 8)
                }
                ArgClass::Sse if sse + 16 <= SAVE_AREA => {
                    sse += 16;
                    (true, sse - 16, u32::from(width.div_ceil(8)).min(16))
                }
                ArgClass::Integer | ArgClass::Sse => (false, stack, 8),
                ArgClass::X87 => (false, stack.next_multiple_of(16), 16),
                ArgClass::ByVal { size, align } => {
                    (false, stack.next_multiple_of(align.max(8)), size)
                }
            };
            if !in_registers {
                stack = offset.saturating_add(size.next_multiple_of(8));
            }
            let area = if in_registers {
                &mut save
            } else {
                &mut overflow
            };
            if *class == ArgClass::Integer {
                let value = match *width {
                    64 => since.aged(value, names).unwrap_or_else(|| value.clone()),
                    width if width < 64 => value.cast(CastKind::ZExt, width, 64),
                    _ => Value::all(64),
                };
                area.set(offset, 8, value);
            }
        }
        Areas {
            save,
            overflow,
            size: Num::exactly(64, stack.into()),
            general: Value::exactly(32, first.0.into()),
            sse: Value::exactly(32, first.1.into()),
        }
    }

    /// Executes `va_start`. Returns false if no execution continues.
    pub(super) fn va_start(
        &mut self,
        frame: &Frame,
        state: &mut State,
        (list, op): (Operand, u32),
        check: CheckId,
    ) -> bool {
        let areas = match &frame.variadic {
            Some(variadic) => Self::areas(variadic, &state.fates, &self.names),
            None => Areas {
                save: Contents::any(),
                overflow: Contents::any(),
                size: Num::between(64, 0, 1 << 31).unwrap_or(Num::all(64)),
                general: Value::all(32),
                sse: Value::all(32),
            },
        };
        let mut place = |part: u32, size: Num, contents: Contents| {
            let made = Made {
                ctx: frame.ctx,
                block: self.at.block.0,
                op,
                part,
            };
            let object = Object {
                alive: Alive::Yes,
                size,
                contents: Arc::new(contents),
            };
            self.make(state, made, object)
        };
        let save = place(1, Num::exactly(64, SAVE_AREA.into()), areas.save);
        let overflow = place(2, areas.size, areas.overflow);
        let fields = [
            (0u32, areas.general, 32),
            (4, areas.sse, 32),
            (8, overflow, 64),
            (16, save, 64),
        ];
        let whole = Num::exactly(64, 24);
        let purpose = super::memory::Purpose {
            check: Some(check),
            write: true,
            len: None,
        };
        let Some(access) = self.access(frame, state, list, &whole, purpose) else {
            return false;
        };
        if !self.goes(&access) {
            return false;
        }
        self.forget(state, &access, (&whole, END), Ends::Forgotten);
        if let Some((id, at)) = access.place() {
            state.change(id, &self.names, |object| {
                let contents = Arc::make_mut(&mut object.contents);
                for (offset, value, width) in fields {
                    contents.set(at.saturating_add(offset), u32::from(width / 8u16), value);
                }
            });
        }
        true
    }
}
