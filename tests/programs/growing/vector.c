/* Numbers behind a function that appends, in two vectors. Wrong: a vector grows only when it holds more than it has room for. */
#include <stdio.h>
#include <stdlib.h>

struct vector {
    int *numbers;
    size_t count, room;
};

#ifdef FIXED
#define FULL(vector) ((vector)->count == (vector)->room)
#else
#define FULL(vector) ((vector)->count > (vector)->room || !(vector)->room)
#endif

static void append(struct vector *vector, int number) {
    if (FULL(vector)) {
        size_t room = vector->room ? 2 * vector->room : 8;
        if (room > 100000) return;
        int *numbers = realloc(vector->numbers, room * sizeof(int));
        if (!numbers) abort();
        vector->numbers = numbers;
        vector->room = room;
    }
    vector->numbers[vector->count++] = number;
}

int main(void) {
    struct vector even = {NULL, 0, 0}, odd = {NULL, 0, 0};
    int c;
    while ((c = getchar()) != EOF) {
        if (c % 2) append(&odd, c);
        else append(&even, c);
    }
    free(even.numbers);
    free(odd.numbers);
    return 0;
}
