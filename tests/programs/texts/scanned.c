/* Words up to one that ends them. Wrong: the width of the conversion leaves no room for the end. */
#include <stdio.h>
#include <string.h>

int main(void) {
    char word[12];
    unsigned length = 0;
#ifdef FIXED
    while (scanf("%11s", word) == 1) {
#else
    while (scanf("%12s", word) == 1) {
#endif
        length += (unsigned)strlen(word);
        if (!strcmp(word, "end")) break;
    }
    return length > 100;
}
