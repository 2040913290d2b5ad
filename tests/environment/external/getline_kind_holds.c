// world: holds
// property: memory
// native: ext
// why: a buffer of the program's own, whose length the program knows
#include <stddef.h>
long next_line_into(char *line, size_t capacity);
int main(void)
{
    char line[16] = "";
    long n = next_line_into(line, sizeof line);
    if (n > 0 && n <= (long)sizeof line)
        return line[n - 1];
    return 0;
}
