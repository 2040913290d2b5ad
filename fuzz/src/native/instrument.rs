//! Instruments the program before it is compiled: counters, the fill pattern, numbered traps.
//!
//! The module is the one that the engine reads, and blocks and sites are numbered before anything
//! is changed. Block `n` of the module (functions with bodies in module order, including those that
//! only the engine runs) owns counter `n`, and a failing place is identified by its block and the
//! index of its instruction in the block. Only then is the module rewritten, and only after that
//! may LLVM optimise it: an optimiser that ran first would delete loops and branches that the
//! engine still has.
//!
//! Three rules make a native run and the engine's run of a tape equivalent:
//! - undefined values are the byte 0xAA, in registers as in memory;
//! - a trap that clang inserted (`llvm.ubsantrap`) becomes a call that ends the run and reports
//!   where;
//! - a NULL access stays an access (`null_pointer_is_valid`): it faults instead of being optimised
//!   away. If accesses are watched, reads whose values are unused are kept too.

use cegar_llvm::{
    AttributeKind, BasicBlock, Builder, LLVMOpcode, LLVMTypeKind, Module, Place, Value,
};
use cegar_stubs::{KIND, UNDEFINED_BYTE};
use serde::{Deserialize, Serialize};

use super::divide::{COUNTERS, SITES};
use super::undefined::filled;

/// Metadata that exempts an access from a sanitizer.
const NO_SANITIZER: &str = "nosanitize";

/// A place that can fail: a trap, or a call of a failing function. The native runtime reports its
/// index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// The block's number in the module.
    pub block: u32,
    /// The index of the instruction in its block, counting every instruction of the original
    /// module.
    pub inst: u32,
    /// The function that contains it.
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

/// The instrumentation that is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InstrumentOptions {
    /// Keep counter updates exactly in their places, so that a crash within a block loses none.
    pub precise: bool,
    /// Log comparisons.
    pub comparisons: bool,
    /// Prepare for AddressSanitizer.
    pub address: bool,
    /// Make numbers relative to the function, so that its code does not depend on the program that
    /// contains it.
    pub relative: bool,
}

/// Where the numbers of a function start.
#[derive(Clone, Debug)]
pub(crate) struct FunctionNumbers {
    /// The function.
    pub function: String,
    /// The number of its first block.
    pub block: u32,
    /// The number of its first failing place, and the number of its failing places.
    pub site: u32,
    pub sites: u32,
}

/// The result of the instrumentation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instrumented {
    /// Number of blocks, which is the number of counters.
    pub blocks: u32,
    /// Places that can fail, by the number that the runtime reports.
    pub sites: Vec<Site>,
    /// Constants that the program compares with.
    pub tokens: Vec<Vec<u8>>,
    /// Where the numbers of each function start.
    pub function_numbers: Vec<FunctionNumbers>,
}

/// A block with its number.
struct Numbered<'m> {
    number: u32,
    block: BasicBlock<'m>,
}

/// Instruments the module.
pub(crate) fn instrument(module: &Module, options: InstrumentOptions) -> Instrumented {
    let mut instrumented = Instrumented::default();
    let mut native: Vec<Native<'_>> = Vec::new();
    let mut engine_only = Vec::new();
    for function in module.functions() {
        let kind = function.string_attribute(KIND);
        let blocks = function.blocks();
        if blocks.is_empty() {
            continue;
        }
        let numbered: Vec<Numbered> = (instrumented.blocks..)
            .zip(&blocks)
            .map(|(number, &block)| Numbered { number, block })
            .collect();
        instrumented.blocks += blocks.len() as u32;
        if kind.as_deref() == Some("engine-only") {
            engine_only.push(function);
        } else {
            native.push((function, numbered, kind.as_deref() != Some("stub")));
        }
    }
    // Traps and failing calls are numbered first, since their numbers are positions in the original
    // module.
    for (function, blocks, _) in &native {
        let site = instrumented.sites.len() as u32;
        number_sites(
            module,
            *function,
            blocks,
            options.relative,
            &mut instrumented.sites,
        );
        instrumented.function_numbers.push(FunctionNumbers {
            function: function.name(),
            block: blocks.first().map_or(0, |first| first.number),
            site,
            sites: instrumented.sites.len() as u32 - site,
        });
    }
    for function in engine_only {
        drop_body(module, function);
    }
    own_functions(module, options);
    for (function, blocks, users) in &native {
        prepare(*function, options);
        let mut lifetimes = Vec::new();
        let mut allocas = Vec::new();
        for Numbered { block, .. } in blocks {
            for instruction in block.instructions() {
                if options.comparisons {
                    super::compare::log(module, instruction, &mut instrumented.tokens, true);
                } else if *users {
                    super::compare::log(module, instruction, &mut instrumented.tokens, false);
                }
                fill_undefined(instruction);
                if options.address && *users {
                    keep_reading(module, instruction);
                }
                match instruction.opcode() {
                    Some(LLVMOpcode::LLVMAlloca) => allocas.push(instruction),
                    Some(LLVMOpcode::LLVMCall) => {
                        uninitialised_call(module, instruction, &mut lifetimes)
                    }
                    _ => {}
                }
            }
        }
        fill_stack(module, &allocas, &lifetimes);
    }
    count_blocks(module, options, instrumented.blocks, &native);
    hide_symbols(module);
    instrumented.tokens.sort();
    instrumented.tokens.dedup();
    instrumented
}

/// Keeps a read whose value is unused, since it faults if the address is invalid.
fn keep_reading(module: &Module, instruction: Value<'_>) {
    match instruction.opcode() {
        Some(LLVMOpcode::LLVMLoad) => instruction.set_volatile(),
        Some(LLVMOpcode::LLVMCall) => {
            let callee = instruction
                .called_function()
                .map(Value::name)
                .unwrap_or_default();
            let is_copy = |prefix: &&str| callee.starts_with(prefix);
            if ["llvm.memcpy.p", "llvm.memmove.p"].iter().any(is_copy) {
                instruction.set_operand(3, module.int(1).number(1));
            }
        }
        _ => {}
    }
}

/// A function that runs natively, its blocks, and whether it is the user's.
type Native<'m> = (Value<'m>, Vec<Numbered<'m>>, bool);

/// Gives each block a counter. If counters are addressed relative to their function, each function
/// has its own symbol for them.
fn count_blocks(module: &Module, options: InstrumentOptions, blocks: u32, native: &[Native<'_>]) {
    // Not named like its section, since LLVM's assembler would take the two for one symbol.
    let counters = module.int(8).array(u64::from(blocks.max(1)));
    let all = module.add_global("__cegar_counters", counters);
    all.set_initializer(counters.zero());
    all.set_section("__cegar_cnts");
    all.set_align(64);
    let int = module.int(32);
    let count = module.add_global("__cegar_blocks", int);
    count.set_initializer(int.number(u64::from(blocks)));
    for (function, blocks, _) in native {
        let (counters, first) = match (options.relative, blocks.first()) {
            (true, Some(first)) => {
                let name = format!("{COUNTERS}{}", function.name());
                let of_function =
                    module.declare_global(&name, module.int(8).array(blocks.len() as u64));
                of_function.hide();
                (of_function, first.number)
            }
            _ => (all, 0),
        };
        for Numbered { number, block } in blocks {
            let counter = counters.byte_address(u64::from(*number - first));
            count_block(module, *block, counter, options.precise);
        }
    }
}

/// Hides the program's symbols from the process that loads it.
fn hide_symbols(module: &Module) {
    for global in module.functions_and_globals() {
        let name = global.name();
        if !global.is_declaration() && name != "cegar_entry" && !name.starts_with("__cegar_") {
            global.hide();
        }
    }
}

/// Redirects the program to its own heap, so that its blocks do not lie among those of the process
/// that runs it. Under AddressSanitizer, also redirects calls to functions that check arguments
/// which the sanitizer does not check.
fn own_functions(module: &Module, options: InstrumentOptions) {
    let watched = if options.address {
        cegar_stubs::watched()
    } else {
        &[]
    };
    for function in module
        .functions()
        .into_iter()
        .filter(|f| f.is_declaration())
    {
        let name = function.name();
        let mut all = cegar_stubs::heap().iter().chain(watched);
        if let Some(native) = all.find(|r| r.symbol == name) {
            redirect(module, function, native.replacement);
        }
    }
}

/// Replaces every use of a declared function by the function called `name`.
fn redirect<'m>(module: &'m Module, function: Value<'m>, name: &str) {
    match module.function(name) {
        None => function.set_name(name),
        Some(existing) => {
            function.replace_all_uses(existing);
            function.delete();
        }
    }
}

/// Turns a definition into a declaration of the same name.
fn drop_body<'m>(module: &'m Module, function: Value<'m>) {
    let name = function.name();
    function.set_name("");
    let declared = module.add_function(&name, function.value_type());
    function.replace_all_uses(declared);
    function.delete();
}

/// Sets function attributes that preserve faults and allow optimisation.
fn prepare(function: Value<'_>, options: InstrumentOptions) {
    let removed = ["noinline", "optnone", "mustprogress"].into_iter();
    for kind in removed.filter_map(AttributeKind::named) {
        function.remove_attribute(Place::Function, kind);
    }
    // Without `sanitize_address`, clang's pass silently skips a function.
    let address = options.address.then_some("sanitize_address");
    let added = ["null_pointer_is_valid"].into_iter().chain(address);
    for kind in added.filter_map(AttributeKind::named) {
        function.add_attribute(kind);
    }
}

/// Numbers the failing places of a function and makes each report its number. With `relative`, the
/// number is read from a table whose address the linker determines.
fn number_sites(
    module: &Module,
    function: Value<'_>,
    blocks: &[Numbered<'_>],
    relative: bool,
    sites: &mut Vec<Site>,
) {
    let first = sites.len();
    let table = format!("{SITES}{}", function.name());
    let stub = function.string_attribute(KIND).as_deref() == Some("stub");
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
            let Some(callee) = instruction.called_function() else {
                continue;
            };
            let name = callee.name();
            let trap = match name.as_str() {
                "llvm.ubsantrap" => Some(instruction.operand(0).const_int().unwrap_or(255) as u32),
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
            let at = Builder::before(instruction);
            let int = module.int(32);
            let check = if relative {
                // The length of the table is unknown here; it is read only at these constant
                // offsets.
                let table = module.declare_global(&table, module.int(8).array(1 << 20));
                table.hide();
                let check = at.load(int, table.byte_address(4 * (site - first) as u64));
                check.set_metadata(NO_SANITIZER, &[]);
                check
            } else {
                int.number(site as u64)
            };
            match trap {
                Some(kind) => {
                    at.call(
                        module.declare("__cegar_trap", module.void(), &[int, int]),
                        &[check, int.number(u64::from(kind))],
                    );
                    instruction.delete();
                }
                None => {
                    let store = at.store(check, module.declare_global("__cegar_check", int));
                    store.set_volatile();
                    store.set_metadata(NO_SANITIZER, &[]);
                }
            }
        }
    }
}

/// Replaces undefined operands, and undefined parts of operands, by the fill pattern.
fn fill_undefined(instruction: Value<'_>) {
    for i in 0..instruction.operand_count() {
        let operand = instruction.operand(i);
        let value_kind = operand.ty().kind();
        if matches!(
            value_kind,
            LLVMTypeKind::LLVMMetadataTypeKind | LLVMTypeKind::LLVMLabelTypeKind
        ) {
            continue;
        }
        if let Some(filled) = filled(operand, UNDEFINED_BYTE) {
            instruction.set_operand(i, filled);
        }
    }
}

/// Replaces `__cegar_uninit(p, n)` by a fill, and records the starts of lifetimes with their
/// variables.
fn uninitialised_call<'m>(
    module: &'m Module,
    call: Value<'m>,
    lifetimes: &mut Vec<(Value<'m>, Value<'m>)>,
) {
    let Some(callee) = call.called_function() else {
        return;
    };
    let name = callee.name();
    if name == "__cegar_uninit" {
        // A variable is filled at the start of its lifetime; before that, AddressSanitizer reports
        // every access.
        if call.operand(0).opcode() != Some(LLVMOpcode::LLVMAlloca) {
            let at = Builder::before(call);
            at.memset(
                call.operand(0),
                UNDEFINED_BYTE,
                at.resize(call.operand(1), module.int(64), false),
            );
        }
        call.delete();
    } else if name.starts_with("llvm.lifetime.start") {
        lifetimes.push((call.operand(1), call));
    }
}

/// Fills stack variables with the pattern at each start of their lifetime.
fn fill_stack<'m>(module: &'m Module, allocas: &[Value<'m>], lifetimes: &[(Value<'m>, Value<'m>)]) {
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
        let bytes = module.layout().size(alloca.allocated_type());
        for place in places {
            let Some(next) = place.next_instruction() else {
                continue;
            };
            let at = Builder::before(next);
            let long = module.int(64);
            let count = alloca.operand(0);
            let len = match count.const_int() {
                Some(n) => long.number(bytes.saturating_mul(n)),
                None => at.mul(at.resize(count, long, false), long.number(bytes)),
            };
            at.memset(alloca, UNDEFINED_BYTE, len);
        }
    }
}

/// Adds the counter of a block. It saturates at 255, since a count that wraps to 0 would look like
/// a block that was never entered.
fn count_block<'m>(module: &'m Module, block: BasicBlock<'m>, counter: Value<'m>, precise: bool) {
    let Some(first) = block
        .instructions()
        .into_iter()
        .find(|i| i.opcode() != Some(LLVMOpcode::LLVMPHI))
    else {
        return;
    };
    let at = Builder::before(first);
    let byte = module.int(8);
    let old = at.load(byte, counter);
    let saturating = module.declare("llvm.uadd.sat.i8", byte, &[byte, byte]);
    let new = at.call(saturating, &[old, module.int(8).number(1)]);
    let store = at.store(new, counter);
    for access in [old, store] {
        access.set_metadata(NO_SANITIZER, &[]);
        if precise {
            access.set_volatile();
        }
    }
}
