// world: breaks
// property: memory
// native: ext
// assumption: external-pointers
// why: the buffer that is left behind may be NULL in spite of a length
#include <stddef.h>
long next_line(char **line, size_t *capacity);
int main(void)
{
    char *line = 0;
    size_t capacity = 0;
    if (next_line(&line, &capacity) > 0)
        return line[0];
    return 0;
}
