#include <stdarg.h>
int read_values(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    *va_arg(args, int *) = 44;
    va_end(args);
    return 1;
}
int show_values(const char *format, ...) { return *format; }
