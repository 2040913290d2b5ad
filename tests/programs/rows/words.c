/* Words in an array that is filled from its beginning. Wrong: a word that is read again is released at once, and again at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *words[16];
    char line[24];
    int n = 0;
    while (n < 16 && fgets(line, sizeof line, stdin)) {
        char *word = strdup(line);
        if (!word) break;
        words[n++] = word;
#ifndef FIXED
        if (n > 1 && !strcmp(words[n - 2], word)) free(word);
#endif
    }
    for (int i = 0; i < n; i++) free(words[i]);
    return 0;
}
