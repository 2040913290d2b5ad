//! A harness to fill in, used if none could be written: no header is known, or its functions need
//! more than can be guessed.

/// The text of the template. It compiles and runs, but calls nothing yet.
pub(super) fn template(include: Option<&str>) -> String {
    let include = include.map_or("/* #include \"library.h\" */".to_owned(), |i| {
        format!("#include \"{i}\"")
    });
    format!(
        "/* A program over the library: whatever it asks for below is chosen by the \
         search.\n\x20*\n\x20*   crunner_get_byte()  crunner_get_int()  crunner_get_bool()   a \
         value of that type\n\x20*   crunner_range(low, high)                                   a \
         number between these\n\x20*   crunner_get_bytes(buffer, n)                               \
         n bytes\n\x20*   crunner_get_rest(&size)                                    all that is \
         left of the input\n\x20*   crunner_get_elements(sizeof(int), &count)                  the \
         same as elements of a type\n\x20*   \
         crunner_assume(condition)                                  runs in which it does not hold \
         do not count\n\x20*   crunner_check(condition)                                   a check \
         of your own\n\x20*\n\x20* Standard input, files, arguments and the environment are chosen \
         as well. */\n#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n\n\
         #include <crunner.h>\n{include}\n\nint main(void)\n{{\n    size_t size;\n    uint8_t \
         *data = crunner_get_rest(&size);\n\n    /* Call the library with the values. */\n    \
         free(data);\n    return 0;\n}}\n"
    )
}
