/* Letters and other characters in arrays of their own. Wrong: one of them is as large as the other one was asked to be. */
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    size_t letters = 0, letter_room = 8, others = 0, other_room = 8;
    char *text = malloc(letter_room), *rest = malloc(other_room);
    if (!text || !rest) return 1;
    int c;
    while ((c = getchar()) != EOF) {
        if (c >= 'a' && c <= 'z') {
            if (letters == letter_room) {
                letter_room *= 2;
                if (letter_room > 4096) break;
                text = realloc(text, letter_room);
                if (!text) return 1;
            }
            text[letters++] = (char)c;
        } else {
            if (others == other_room) {
                other_room *= 2;
                if (other_room > 4096) break;
#ifdef FIXED
                rest = realloc(rest, other_room);
#else
                rest = realloc(rest, letter_room);
#endif
                if (!rest) return 1;
            }
            rest[others++] = (char)c;
        }
    }
    free(text);
    free(rest);
    return 0;
}
