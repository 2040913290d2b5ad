#include <stdarg.h>
int read_values(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *va_arg(args, unsigned *) = 1;
    *va_arg(args, unsigned *) = 100000;
    va_end(args);
    return 2;
}
