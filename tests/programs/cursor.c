/* A cursor and the count of what is left, moved in step: no comparison says where the cursor stops. The fault: one read more. */
#include <stdio.h>

#ifndef MORE
#define MORE 0
#endif

struct input {
    const unsigned char *next;
    unsigned left;
    unsigned long total;
};

static int take(struct input *in, int bits)
{
    unsigned buffer = 0;
    int held = 0;
    while (1) {
        if (held >= bits)
            return (int)(buffer & 0xff);
        if (in->left + MORE == 0)
            return -1;
        buffer = buffer << 8 | *in->next;
        held += 8;
        in->next++;
        in->left--;
        in->total++;
    }
}

int main(void)
{
    static unsigned char text[100];
    struct input in = {text, 0, 0};
    in.left = (unsigned)fread(text, 1, sizeof text, stdin);
    return take(&in, 1 << 20) == 7;
}
