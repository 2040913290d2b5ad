//! Invalid uses give an answer or a panic, and never LLVM's undefined behaviour. What is built and
//! linked is well-formed.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const TEXT: &str = r#"
%pair = type { i32, ptr }
@text = constant [3 x i8] c"ab\00"
@table = constant [2 x i16] [i16 1, i16 -1]
@zero = global %pair zeroinitializer
declare i32 @given(i32, ...)
define i32 @f(ptr %p, i32 %n) "cegar-kind"="user" {
  %field = getelementptr inbounds %pair, ptr %p, i64 2, i32 1
  %read = load volatile i32, ptr %field, align 8
  %sum = add nsw i32 %read, %n
  %more = call i32 (i32, ...) @given(i32 %sum, ptr byval(%pair) align 16 %p)
  ret i32 %more
}
"#;

fn instructions(module: &Module) -> Vec<Value<'_>> {
    module.function("f").unwrap().blocks()[0].instructions()
}

#[test]
fn each_kind_of_value_answers_what_it_has() {
    let module = Module::parse(TEXT).unwrap();
    let layout = module.layout();
    let [field, read, sum, more, end] = instructions(&module)[..] else {
        panic!("five instructions");
    };
    assert_eq!(field.gep_parts(layout).unwrap().0, 40);
    assert!(field.is_inbounds() && !read.is_inbounds());
    assert!(read.is_volatile() && !sum.is_volatile());
    assert_eq!((read.align(), sum.align()), (8, 0));
    assert_eq!(more.called_function().map(Value::name).unwrap(), "given");
    assert_eq!(
        more.attribute_number(Place::Parameter(1), "align"),
        Some(16)
    );
    let pair = more.attribute_type(Place::Parameter(1), "byval").unwrap();
    assert_eq!(pair.struct_name().as_deref(), Some("pair"));
    assert_eq!((layout.size(pair), layout.field_offset(pair, 1)), (16, 8));
    assert!(end.successors().is_empty() && sum.successors().is_empty());
    assert!(more.indices().is_empty() && more.incoming().is_empty());
    assert_eq!(sum.position(), None);
    let function = sum.parent_function();
    assert_eq!(function.string_attribute("cegar-kind").unwrap(), "user");
    assert!(function.initializer().is_none());
    assert!(module.global("zero").unwrap().blocks().is_empty());
}

#[test]
fn constants_are_read() {
    let module = Module::parse(TEXT).unwrap();
    let value = |name| module.global(name).and_then(Value::initializer).unwrap();
    assert_eq!(value("text").bytes(), Some(b"ab\0".as_slice()));
    assert_eq!(value("table").bytes(), None);
    let numbers: Vec<u64> = value("table").numbers().unwrap().collect();
    assert_eq!(numbers, [1, 0xffff]);
    assert!(value("zero").numbers().is_none() && value("zero").is_null());
    assert!(value("zero").element(1).unwrap().ty().is_pointer());
    assert!(value("zero").element(2).is_none());
    assert!(module.function("f").unwrap().element(0).is_none());
}

#[test]
fn what_is_changed_is_well_formed() {
    let module = Module::parse(TEXT).unwrap();
    let sum = instructions(&module)[2];
    let at = Builder::before(sum);
    let (int, long) = (module.int(32), module.int(64));
    let wide = at.resize(sum.operand(1), long, false).named("wide");
    let log = module.declare("log", module.void(), &[long, int]);
    at.call(log, &[wide, int.number(7)]);
    sum.drop_flags();
    sum.set_metadata_text("note", "here");
    module.global("zero").unwrap().mark("seen");
    module.verify("it").unwrap();
    let text = module.text();
    assert!(text.contains("call void @log(i64 %wide, i32 7)"), "{text}");
    assert!(text.contains("%sum = add i32 %read, %n, !note"), "{text}");
    assert!(module.global("zero").unwrap().is_marked("seen"));
    let note = sum.metadata("note").unwrap();
    assert_eq!(note.string_at(0), "here");
    assert!(note.value().is_none() && note.string_at(1).is_empty());
    sum.keep_metadata(&[]);
    assert!(sum.metadata("note").is_none());
}

#[test]
fn modules_are_linked_and_a_broken_one_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.bc");
    std::fs::write(&path, Module::parse(TEXT).unwrap().bitcode()).unwrap();
    let program = Module::empty("program");
    let part = program.read_beside(&path).unwrap();
    program.link(part).unwrap();
    assert_eq!(instructions(&program).len(), 5);
    let again = program.read_beside(&path).unwrap();
    assert!(program.link(again).is_err(), "defined twice");
    assert!(program.link(Module::empty("elsewhere")).is_err());
    assert!(program.run_passes("no-such-pass", None).is_err());
    program.run_passes("globaldce", None).unwrap();
    std::fs::write(&path, "no bitcode").unwrap();
    let refused = Module::read(&path).err();
    assert!(matches!(refused, Some(ModuleError::Parse { .. })));
    assert!(Module::parse("define").is_err());
    program.function("f").unwrap().append_block("open");
    assert!(program.verify("it").is_err());
}

#[test]
#[should_panic(expected = "types")]
fn a_sum_of_different_types_is_not_built() {
    let module = Module::parse(TEXT).unwrap();
    let (int, long) = (module.int(32).number(1), module.int(64).number(1));
    Builder::before(instructions(&module)[0]).add(int, long);
}

#[test]
#[should_panic(expected = "something uses it")]
fn what_is_used_is_not_removed() {
    instructions(&Module::parse(TEXT).unwrap())[0].delete();
}
