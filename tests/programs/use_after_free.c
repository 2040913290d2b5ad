/* A small command interpreter: o(pen), w(rite), c(lose). */
#include <stdio.h>
#include <stdlib.h>

struct file {
    int written;
};

int main(void)
{
    struct file *file = NULL;
    int c, is_open = 0;

    while ((c = getchar()) != EOF) {
        if (c == 'o' && !is_open) {
            file = malloc(sizeof *file);
            if (file == NULL)
                return 1;
            file->written = 0;
            is_open = 1;
        } else if (c == 'w' && file != NULL) {
            file->written = c; /* here */
        } else if (c == 'c' && is_open) {
            free(file);
            is_open = 0;
#ifdef FIXED
            file = NULL;
#endif
        }
    }
    return is_open;
}
