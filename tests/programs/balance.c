/* A ring buffer that is filled and emptied as its input says, and what went in and out is counted: that the counts agree is a relation of
   three variables. The last line reads past the end of `marks` for one sum: those who ask about assertions only do not mind. */
#include <assert.h>
#include <stdio.h>

#define SIZE 8

static const char marks[9] = "abcdefgh";

int main(void)
{
    unsigned char ring[SIZE] = {0};
    unsigned from = 0, held = 0, sum = 0, in = 0, out = 0;
    int c;
    while ((c = getchar()) != EOF) {
        if (c == '-') {
            if (held > 0) {
                sum = (sum + ring[from]) % 10;
                from = (from + 1) % SIZE;
                held--, out++;
            }
        } else if (held < SIZE) {
            ring[(from + held) % SIZE] = (unsigned char)c;
            held++, in++;
        }
        assert(from < SIZE);
    }
    assert(in == out + held);
#ifdef FIXED
    sum %= 9;
#endif
    return marks[sum] == 'x';
}
