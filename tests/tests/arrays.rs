//! Arrays in the harnesses that `init` writes: their length is the one that the harness passes to
//! the library, so that an access to one element too many is a finding, and correct functions are
//! not blamed.

use cegar_tests::{Project, Tool, exit};

const HEADER: &str = "#include <stddef.h>\n#include <stdint.h>\n\
    enum level { LOW, MIDDLE, HIGH, LEVEL_MAX = HIGH };\n\
    enum color { RED, GREEN, BLUE, COLOR_COUNT };\n\
    float arr_dot(const float *a, const float *b, size_t n);\n\
    float arr_mean(const float *xs, const float *ys, size_t n);\n\
    void arr_scale(const int *in, size_t count, int *out);\n\
    void arr_double(const int *in, size_t count, int *out);\n\
    int arr_energy(const int16_t *samples, size_t nbytes);\n\
    int arr_power(const int16_t *samples, size_t size_in_bytes);\n\
    void arr_fill(uint32_t *dst, uint32_t value, size_t n);\n\
    int arr_sum(const int *values, uint8_t count);\n\
    int arr_last(const int *values, size_t n);\n\
    int arr_level(enum level level);\n\
    int arr_colors(const enum color *colors, size_t count);\n";

/// About half of these functions access one element too many.
const SOURCE: &str = "#include \"arr.h\"\nfloat arr_dot(const float *a, const float *b, size_t n)\n\
    { float sum = 0; for (size_t i = 0; i <= n; i++) sum += a[i] * b[i]; return sum; }\n\
    float arr_mean(const float *xs, const float *ys, size_t n)\n\
    { float sum = 0; for (size_t i = 0; i < n; i++) sum += xs[i] * ys[i]; return n ? sum / n : 0; \
    }\nvoid arr_scale(const int *in, size_t count, int *out)\n\
    { for (size_t i = 0; i < count; i++) out[i] = in[i] >> 1; out[count] = 0; }\n\
    void arr_double(const int *in, size_t count, int *out)\n\
    { for (size_t i = 0; i < count; i++) out[i] = in[i] >> 1; }\n\
    int arr_energy(const int16_t *samples, size_t nbytes)\n\
    { int sum = 0; for (size_t i = 0; i < nbytes; i++) sum ^= samples[i]; return sum; }\n\
    int arr_power(const int16_t *samples, size_t size_in_bytes)\n\
    { int sum = 0; for (size_t i = 0; i < size_in_bytes / 2; i++) sum ^= samples[i]; return sum; \
    }\nvoid arr_fill(uint32_t *dst, uint32_t value, size_t n) { while (n--) *dst++ = value; }\n\
    int arr_sum(const int *values, uint8_t count)\n\
    { int sum = 0; for (int i = 0; i <= count; i++) sum ^= values[i]; return sum; }\n\
    int arr_last(const int *values, size_t n) { return n == 0 ? 0 : values[n - 1] > values[n - 2]; \
    }\n\
    int arr_level(enum level level) { static const int known[2] = {3, 4}; return known[level]; }\n\
    int arr_colors(const enum color *colors, size_t count)\n\
    { unsigned seen[COLOR_COUNT] = {0}; for (size_t i = 0; i < count; i++) seen[colors[i]]++; \
    return seen[0] > 1; }\n";

#[test]
fn they_are_as_long_as_the_library_is_told() {
    let project = Project::wrapping("arr", HEADER, SOURCE);
    let tool = |words: &[&str]| Tool::new(project.path(), words.iter().copied()).run();
    tool(&["init", "--no-try", "--most", "99"]).expect(exit::CLEAN);
    for name in ["mean", "double", "power", "fill", "colors"] {
        let one = format!("arr_{name}");
        tool(&["run", &one, "--max-time", "3s"]).expect(exit::CLEAN);
    }
    for name in ["dot", "scale", "energy", "sum", "last", "level"] {
        let one = format!("arr_{name}");
        let run = tool(&["run", &one, "--no-emit", "--until-violation"]);
        run.expect(exit::VIOLATION).expect_message("Found");
        assert!(!run.stderr.contains("Precondition"), "{run}");
    }
}
