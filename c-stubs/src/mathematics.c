/* The functions of <math.h> that set errno, based on functions that do not.
 *
 * Results are the host's (exactly IEEE 754's where that standard defines them), and errors follow
 * from the results: a NaN from a number is a domain error, an infinity from finite numbers is an
 * overflow or a pole. If the engine does not compute the result, it knows only the result's range,
 * which rounding never leaves, and that it is a number for arguments in the function's domain. */
#include "stub.h"

#define not_a_number(x) ((x) != (x))
#define infinite(x) ((x) - (x) != 0 && !not_a_number(x))

#define OF_ONE(type, name, plain, domain, within) \
    type plain(type x); \
    STUB type CRUNNER_##name(type x) { \
        type r = plain(x); \
        crunner_assume(!(domain) || !not_a_number(r)); \
        if (not_a_number(r)) { \
            if (!not_a_number(x)) stub_errno = STUB_EDOM; \
            return r; \
        } \
        if (infinite(r) && !infinite(x)) stub_errno = STUB_ERANGE; \
        crunner_assume(within); \
        return r; \
    }
#define BOTH_OF_ONE(name, domain, within) \
    OF_ONE(double, name, name, domain, within) \
    OF_ONE(float, name##f, name##f, domain, within)

#define ANY 1
#define FINITE (x - x == 0)
#define NUMBER (x == x)
/* The ranges are rounded outwards to integers, since results up to pi or pi/2 may be rounded up. */
BOTH_OF_ONE(sqrt, x >= 0, r >= 0)
BOTH_OF_ONE(sin, FINITE, r >= -1 && r <= 1)
BOTH_OF_ONE(cos, FINITE, r >= -1 && r <= 1)
BOTH_OF_ONE(tan, FINITE, ANY)
BOTH_OF_ONE(asin, x >= -1 && x <= 1, r >= -2 && r <= 2)
BOTH_OF_ONE(acos, x >= -1 && x <= 1, r >= 0 && r <= 4)
BOTH_OF_ONE(log, x >= 0, ANY)
BOTH_OF_ONE(log2, x >= 0, ANY)
BOTH_OF_ONE(log10, x >= 0, ANY)
BOTH_OF_ONE(log1p, x >= -1, ANY)
BOTH_OF_ONE(cosh, NUMBER, r >= 1)
BOTH_OF_ONE(sinh, NUMBER, ANY)

/* Functions without domain errors. Some of them may underflow to zero. */
#define GROWS(type, name, out_of_range, within) \
    type name(type x); \
    STUB type CRUNNER_##name(type x) { \
        type r = name(x); \
        crunner_assume(!NUMBER || !not_a_number(r)); \
        if (not_a_number(r)) return r; \
        if (!infinite(x) && (out_of_range)) stub_errno = STUB_ERANGE; \
        crunner_assume(within); \
        return r; \
    }
GROWS(double, exp, infinite(r) || r == 0, r >= 0)
GROWS(float, expf, infinite(r) || r == 0, r >= 0)
GROWS(double, exp2, infinite(r) || r == 0, r >= 0)
GROWS(float, exp2f, infinite(r) || r == 0, r >= 0)
GROWS(double, expm1, infinite(r), r >= -1)
GROWS(float, expm1f, infinite(r), r >= -1)

#define OF_TWO(type, name, too_small) \
    type name(type x, type y); \
    STUB type CRUNNER_##name(type x, type y) { \
        type r = name(x, y); \
        if (not_a_number(r)) { \
            if (!not_a_number(x) && !not_a_number(y)) stub_errno = STUB_EDOM; \
        } else if (!infinite(x) && !infinite(y) && (infinite(r) || (too_small))) { \
            stub_errno = STUB_ERANGE; \
        } \
        return r; \
    }
OF_TWO(double, pow, r == 0 && x != 0)
OF_TWO(float, powf, r == 0 && x != 0)
OF_TWO(double, fmod, 0)
OF_TWO(float, fmodf, 0)
OF_TWO(double, remainder, 0)
OF_TWO(float, remainderf, 0)
OF_TWO(double, hypot, 0)
OF_TWO(float, hypotf, 0)

#define SCALED(type, name) \
    type name(type x, int n); \
    STUB type CRUNNER_##name(type x, int n) { \
        type r = name(x, n); \
        if (!not_a_number(x) && !infinite(x) && (infinite(r) || (r == 0 && x != 0))) \
            stub_errno = STUB_ERANGE; \
        return r; \
    }
SCALED(double, ldexp)
SCALED(float, ldexpf)

/* Functions without errors, of which only the range is known. */
#define WITHIN(type, name, within) \
    type name(type x); \
    STUB type CRUNNER_##name(type x) { \
        type r = name(x); \
        crunner_assume(NUMBER ? (within) : not_a_number(r)); \
        return r; \
    }
WITHIN(double, atan, r >= -2 && r <= 2)
WITHIN(float, atanf, r >= -2 && r <= 2)
WITHIN(double, tanh, r >= -1 && r <= 1)
WITHIN(float, tanhf, r >= -1 && r <= 1)

/* Scales by a power of the radix, which is two. */
STUB double CRUNNER_scalbn(double x, int n) { return CRUNNER_ldexp(x, n); }
STUB float CRUNNER_scalbnf(float x, int n) { return CRUNNER_ldexpf(x, n); }

/* Splits a number into a fraction from a half to less than one and a power of two. Zero, infinities
 * and NaNs have the exponent 0, as in the GNU library. */
STUB double CRUNNER_frexp(double x, int *exponent) {
    union {
        double number;
        unsigned long bits;
    } parts = {x};
    int raw = (int)(parts.bits >> 52 & 0x7ff);
    *exponent = 0;
    if (x == 0 || raw == 0x7ff) return x;
    if (raw == 0) {
        /* Multiplied by 2^54, a subnormal number becomes normal. */
        parts.number = x * 18014398509481984.0;
        raw = (int)(parts.bits >> 52 & 0x7ff) - 54;
    }
    *exponent = raw - 1022;
    parts.bits = (parts.bits & ~(0x7fful << 52)) | 1022ul << 52;
    return parts.number;
}
/* Each float is a double with fewer bits, and so is its fraction. */
STUB float CRUNNER_frexpf(float x, int *exponent) { return (float)CRUNNER_frexp(x, exponent); }

double trunc(double x);
double copysign(double x, double y);
float truncf(float x);
float copysignf(float x, float y);
/* The integral part, and the rest with the number's sign. */
#define PARTED(type, name, whole_of, sign_of) \
    STUB type CRUNNER_##name(type x, type *whole) { \
        *whole = not_a_number(x) ? x : whole_of(x); \
        if (not_a_number(x)) return x; \
        return sign_of(infinite(x) ? 0 : x - *whole, x); \
    }
PARTED(double, modf, trunc, copysign)
PARTED(float, modff, truncf, copysignf)

/* Rounds in the current rounding mode, which is to nearest. */
long lrint(double x);
long lrintf(float x);
STUB long long CRUNNER_llrint(double x) { return lrint(x); }
STUB long long CRUNNER_llrintf(float x) { return lrintf(x); }

/* The positive difference of two numbers. */
#define ABOVE(type, name) \
    STUB type CRUNNER_##name(type x, type y) { \
        if (not_a_number(x) || not_a_number(y)) return x + y; \
        if (x <= y) return 0; \
        type r = x - y; \
        if (infinite(r) && !infinite(x) && !infinite(y)) stub_errno = STUB_ERANGE; \
        return r; \
    }
ABOVE(double, fdim)
ABOVE(float, fdimf)

/* The text is the payload of the NaN, which is not modelled. */
STUB double CRUNNER_nan(const char *text) {
    (void)strlen(text);
    return __builtin_nan("");
}
STUB float CRUNNER_nanf(const char *text) { return (float)CRUNNER_nan(text); }
