/* What the compiler knows by itself and Frama-C does not: included before each file. */
#include <limits.h>
#include <string.h>

#include "__fc_builtin.h"

#define __builtin_memcpy memcpy
#define __builtin_memmove memmove
#define __builtin_memset memset
#define __builtin_expect(value, likely) (value)
#define __builtin_prefetch(...) ((void)0)
#define __builtin_ctz(x) ((void)(x), Frama_C_interval(0, 31))
#define __builtin_clz(x) ((void)(x), Frama_C_interval(0, 31))
#define __builtin_ctzll(x) ((void)(x), Frama_C_interval(0, 63))
#define __builtin_clzll(x) ((void)(x), Frama_C_interval(0, 63))
#define __builtin_ctzl(x) __builtin_ctzll(x)
#define __builtin_clzl(x) __builtin_clzll(x)
#define __builtin_unreachable() ((void)0)
