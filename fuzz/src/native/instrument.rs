//! What is added to the program before it is compiled: counters, the fill pattern, numbered traps.
//!
//! The module comes in as the engine reads it, and the numbers are taken before anything is changed: block
//! `n` of the module (functions with bodies, module order, those that only the engine runs included) owns
//! counter `n`, and a failing place is known by its block and the index of its instruction in it. Only
//! then is the module rewritten, and only after that may LLVM optimise: an optimiser that ran first would
//! delete loops and branches that the engine still has.
//!
//! Three rules make a native run and the engine's run of one tape the same run:
//! - undefined values are the byte 0xAA, in registers as in memory;
//! - a trap that clang put in (`llvm.ubsantrap`) becomes a call that ends the run and says where;
//! - a NULL access stays an access (`null_pointer_is_valid`): it faults instead of being optimised away. Where accesses are
//!   watched, reads whose values nobody uses stay, too.

use llvm_sys::{LLVMOpcode, LLVMTypeKind};
use serde::{Deserialize, Serialize};

use super::divide::{COUNTERS, SITES};
use super::ir::{Block, Ir, Value};

/// The byte that undefined values and fresh memory hold.
const UNDEFINED_BYTE: u8 = 0xAA;

/// A place that can fail: a trap, or a call of a failing function. The native runtime reports its index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The block's number in the module.
    pub block: u32,
    /// The index of the instruction in its block, every instruction counted, in the module as given.
    pub inst: u32,
    /// The function it stands in.
    pub function: String,
    /// The kind of a `llvm.ubsantrap`; None for a call of a failing function.
    pub trap: Option<u32>,
    /// Source file, empty if unknown.
    pub file: String,
    /// Source line, 0 if unknown.
    pub line: u32,
    /// Source column, 0 if unknown.
    pub column: u32,
}

/// What instrumentation is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// Counter updates happen exactly where they stand, so that a crash in mid-block loses none.
    pub precise: bool,
    /// Log comparisons.
    pub comparisons: bool,
    /// Prepare for AddressSanitizer.
    pub address: bool,
    /// Numbers are relative to the function: its code does not depend on the program that it is found in.
    pub relative: bool,
}

/// Where the numbers of a function begin.
#[derive(Clone, Debug)]
pub(crate) struct First {
    /// The function.
    pub function: String,
    /// The number of its first block.
    pub block: u32,
    /// The number of its first failing place, and how many it has.
    pub site: u32,
    pub sites: u32,
}

/// What the instrumentation found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Number of blocks, hence of counters.
    pub blocks: u32,
    /// Places that can fail, by the number that the runtime reports.
    pub sites: Vec<Site>,
    /// Constants that the program compares with.
    pub tokens: Vec<Vec<u8>>,
    /// Where the numbers of each function begin.
    pub firsts: Vec<First>,
}

/// A block with its number.
struct Numbered<'m> {
    number: u32,
    block: Block<'m>,
}

/// Rewrites the module.
pub(crate) fn instrument(ir: Ir<'_>, wish: Wish) -> Found {
    let mut found = Found::default();
    let mut native: Vec<Native<'_>> = Vec::new();
    let mut engine_only = Vec::new();
    for function in ir.functions() {
        let kind = function.attribute("cegar-kind");
        let blocks = function.blocks();
        if blocks.is_empty() {
            continue;
        }
        let numbered: Vec<Numbered> = (found.blocks..)
            .zip(&blocks)
            .map(|(number, &block)| Numbered { number, block })
            .collect();
        found.blocks += blocks.len() as u32;
        if kind.as_deref() == Some("engine-only") {
            engine_only.push(function);
        } else {
            native.push((function, numbered, kind.as_deref() != Some("stub")));
        }
    }
    // Traps and failing calls first: their numbers are positions in the untouched module.
    for (function, blocks, _) in &native {
        let site = found.sites.len() as u32;
        number_sites(ir, *function, blocks, wish.relative, &mut found.sites);
        found.firsts.push(First {
            function: function.name(),
            block: blocks.first().map_or(0, |first| first.number),
            site,
            sites: found.sites.len() as u32 - site,
        });
    }
    for function in engine_only {
        ir.drop_body(function);
    }
    own_functions(ir, wish);
    for (function, blocks, users) in &native {
        prepare(ir, *function, wish);
        let mut lifetimes = Vec::new();
        let mut allocas = Vec::new();
        for Numbered { block, .. } in blocks {
            for instruction in block.instructions() {
                if wish.comparisons {
                    super::compare::log(ir, instruction, &mut found.tokens, true);
                } else if *users {
                    super::compare::log(ir, instruction, &mut found.tokens, false);
                }
                fill_undefined(ir, instruction);
                if wish.address && *users {
                    keep_reading(ir, instruction);
                }
                match instruction.opcode() {
                    Some(LLVMOpcode::LLVMAlloca) => allocas.push(instruction),
                    Some(LLVMOpcode::LLVMCall) => {
                        uninitialised_call(ir, instruction, &mut lifetimes)
                    }
                    _ => {}
                }
            }
        }
        fill_stack(ir, &allocas, &lifetimes);
    }
    count_blocks(ir, wish, found.blocks, &native);
    hide_symbols(ir);
    found.tokens.sort();
    found.tokens.dedup();
    found
}

/// Keeps a read whose value nobody uses: it faults if the address is wrong.
fn keep_reading(ir: Ir<'_>, instruction: Value<'_>) {
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMLoad) => instruction.make_volatile(),
        Some(LLVMOpcode::LLVMCall) => {
            let callee = instruction.callee().map(Value::name).unwrap_or_default();
            let is_copy = |prefix: &&str| callee.starts_with(prefix);
            if ["llvm.memcpy.p", "llvm.memmove.p"].iter().any(is_copy) {
                instruction.set_operand(3, ir.constant(1, 1));
            }
        }
        _ => {}
    }
}

/// A function that runs natively: its blocks, and whether it is the user's.
type Native<'m> = (Value<'m>, Vec<Numbered<'m>>, bool);

/// Gives each block a counter. Where counters are addressed from their function, each function has a symbol of its own.
fn count_blocks(ir: Ir<'_>, wish: Wish, blocks: u32, native: &[Native<'_>]) {
    // Not named as its section: LLVM's assembler takes the two for one symbol.
    let all = ir.add_global("__cegar_counters", ir.zero_bytes(u64::from(blocks.max(1))));
    ir.place(all, "__cegar_cnts", 64);
    ir.add_global("__cegar_blocks", ir.constant(32, u64::from(blocks)));
    for (function, blocks, _) in native {
        let (counters, first) = match (wish.relative, blocks.first()) {
            (true, Some(first)) => {
                let name = format!("{COUNTERS}{}", function.name());
                let of_function = ir.extern_global(&name, ir.bytes(blocks.len() as u64));
                of_function.hide();
                (of_function, first.number)
            }
            _ => (all, 0),
        };
        for Numbered { number, block } in blocks {
            let counter = ir.byte_of(counters, u64::from(*number - first));
            count(ir, *block, counter, wish.precise);
        }
    }
}

/// Keeps the program's symbols apart from those of the process that loads it.
fn hide_symbols(ir: Ir<'_>) {
    for global in ir.globals().into_iter().chain(ir.functions()) {
        let name = global.name();
        if global.is_defined() && name != "cegar_entry" && !name.starts_with("__cegar_") {
            global.hide();
        }
    }
}

/// Gives the program a heap of its own: what it allocates must not lie among the blocks of the process that runs it. Under AddressSanitizer it
/// calls what looks at arguments that the sanitizer does not.
fn own_functions(ir: Ir<'_>, wish: Wish) {
    let watched = if wish.address {
        cegar_stubs::watched()
    } else {
        &[]
    };
    for function in ir.functions().into_iter().filter(|f| !f.is_defined()) {
        let name = function.name();
        let mut all = cegar_stubs::heap().iter().chain(watched);
        if let Some(native) = all.find(|r| r.symbol == name) {
            ir.redirect(function, native.replacement);
        }
    }
}

/// Function attributes that keep faults and allow speed.
fn prepare(ir: Ir<'_>, function: Value<'_>, wish: Wish) {
    for name in ["noinline", "optnone", "mustprogress"] {
        ir.enum_attribute(function, name, false);
    }
    ir.enum_attribute(function, "null_pointer_is_valid", true);
    if wish.address {
        // Without this attribute, clang's pass skips a function silently.
        ir.enum_attribute(function, "sanitize_address", true);
    }
}

/// Numbers the failing places of a function and makes each tell its number. With `relative`, the number is read from a table
/// whose place the link decides.
fn number_sites(
    ir: Ir<'_>,
    function: Value<'_>,
    blocks: &[Numbered<'_>],
    relative: bool,
    sites: &mut Vec<Site>,
) {
    let first = sites.len();
    let table = format!("{SITES}{}", function.name());
    let stub = function.attribute("cegar-kind").as_deref() == Some("stub");
    let fails = |name: &str| {
        cegar_stubs::failing_functions()
            .iter()
            .any(|f| f.name == name)
    };
    for Numbered { number, block } in blocks {
        for (index, instruction) in block.instructions().into_iter().enumerate() {
            if instruction.opcode() != Some(LLVMOpcode::LLVMCall) {
                continue;
            }
            let Some(callee) = instruction.callee() else {
                continue;
            };
            let name = callee.name();
            let trap = match name.as_str() {
                "llvm.ubsantrap" => {
                    Some(instruction.operand(0).constant_int().unwrap_or(255) as u32)
                }
                "llvm.trap" => Some(255),
                _ if !stub && fails(&name) => None,
                _ => continue,
            };
            let position = instruction.position().unwrap_or_default();
            let site = sites.len();
            sites.push(Site {
                block: *number,
                inst: index as u32,
                function: function.name(),
                trap,
                file: position.file,
                line: position.line,
                column: position.column,
            });
            let at = ir.before(instruction);
            let check = if relative {
                // Its length is not told: it is read through these constants only.
                let table = ir.extern_global(&table, ir.bytes(1 << 20));
                table.hide();
                let check = at.load(ir.int(32), ir.byte_of(table, 4 * (site - first) as u64));
                ir.no_sanitize(check);
                check
            } else {
                ir.constant(32, site as u64)
            };
            match trap {
                Some(kind) => {
                    let int = ir.int(32);
                    at.call(
                        ir.function("__cegar_trap", ir.void(), &[int, int]),
                        &[check, ir.constant(32, u64::from(kind))],
                    );
                    instruction.erase();
                }
                None => {
                    let store = at.store(check, ir.extern_global("__cegar_check", ir.int(32)));
                    store.make_volatile();
                    ir.no_sanitize(store);
                }
            }
        }
    }
}

/// Replaces undefined operands, and undefined parts of operands, by the pattern.
fn fill_undefined<'m>(ir: Ir<'m>, instruction: Value<'m>) {
    for i in 0..instruction.operand_count() {
        let operand = instruction.operand(i);
        let value_kind = operand.ty().kind();
        if matches!(
            value_kind,
            LLVMTypeKind::LLVMMetadataTypeKind | LLVMTypeKind::LLVMLabelTypeKind
        ) {
            continue;
        }
        if let Some(filled) = ir.filled(operand, UNDEFINED_BYTE) {
            instruction.set_operand(i, filled);
        }
    }
}

/// `__cegar_uninit(p, n)` becomes a fill; a start of life is noted for its variable.
fn uninitialised_call<'m>(
    ir: Ir<'m>,
    call: Value<'m>,
    lifetimes: &mut Vec<(Value<'m>, Value<'m>)>,
) {
    let Some(callee) = call.callee() else { return };
    let name = callee.name();
    if name == "__cegar_uninit" {
        // A variable is filled where its life starts; before that AddressSanitizer reports every access.
        if call.operand(0).opcode() != Some(LLVMOpcode::LLVMAlloca) {
            let at = ir.before(call);
            at.memset(
                call.operand(0),
                UNDEFINED_BYTE,
                at.resize(call.operand(1), 64, false),
            );
        }
        call.erase();
    } else if name.starts_with("llvm.lifetime.start") {
        lifetimes.push((call.operand(1), call));
    }
}

/// Fresh stack variables hold the pattern, from each start of their life.
fn fill_stack<'m>(ir: Ir<'m>, allocas: &[Value<'m>], lifetimes: &[(Value<'m>, Value<'m>)]) {
    for &alloca in allocas {
        let starts: Vec<Value> = lifetimes
            .iter()
            .filter(|(variable, _)| *variable == alloca)
            .map(|(_, call)| *call)
            .collect();
        let places = if starts.is_empty() {
            vec![alloca]
        } else {
            starts
        };
        let bytes = ir.size_of(alloca.allocated());
        for place in places {
            let Some(next) = place.next() else { continue };
            let at = ir.before(next);
            let size = ir.constant(64, bytes);
            let count = alloca.operand(0);
            let len = match count.constant_int() {
                Some(n) => ir.constant(64, bytes.saturating_mul(n)),
                None => at.mul(at.resize(count, 64, false), size),
            };
            at.memset(alloca, UNDEFINED_BYTE, len);
        }
    }
}

/// Adds the counter of one block: it stops at 255, because a count that wraps to 0 would look like a
/// block that was never entered.
fn count<'m>(ir: Ir<'m>, block: Block<'m>, counter: Value<'m>, precise: bool) {
    let Some(first) = block
        .instructions()
        .into_iter()
        .find(|i| i.opcode() != Some(LLVMOpcode::LLVMPHI))
    else {
        return;
    };
    let at = ir.before(first);
    let byte = ir.int(8);
    let old = at.load(byte, counter);
    let saturating = ir.function("llvm.uadd.sat.i8", byte, &[byte, byte]);
    let new = at.call(saturating, &[old, ir.constant(8, 1)]);
    let store = at.store(new, counter);
    for access in [old, store] {
        ir.no_sanitize(access);
        if precise {
            access.make_volatile();
        }
    }
}
