/* A block of no bytes at all can be overrun, too: here by the NUL behind an empty text. */
#include <stdlib.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

static void end_text(char *text, size_t room)
{
#ifdef FIXED
    if (room == 0)
        return;
#endif
    text[room == 0 ? 0 : room - 1] = '\0'; /* here */
}

int main(void)
{
    size_t room = __VERIFIER_nondet_uchar() & 7;
    char *text = malloc(room);

    if (text == NULL)
        return 1;
    end_text(text, room);
    free(text);
    return 0;
}
