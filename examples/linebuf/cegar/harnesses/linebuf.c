/* Reads all of standard input as the library's users would, settings from the environment included. */
#include "linebuf.h"

int main(void)
{
    struct linebuf lb;

    linebuf_init(&lb, linebuf_stdin, 0);
    while (linebuf_next(&lb) != LINEBUF_END)
        ;
    return 0;
}
