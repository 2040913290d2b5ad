/* Numbers of a line are added up. Wrong: there may be more of them than there is room for. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char line[64];
    long numbers[8], sum = 0;
    int count = 0;
    if (!fgets(line, sizeof line, stdin)) return 0;
    for (char *word = strtok(line, ",;\n"); word; word = strtok(NULL, ",;\n")) {
#ifdef FIXED
        if (count == 8) break;
#endif
        numbers[count++] = strtol(word, NULL, 10) % 100;
    }
    for (int i = 0; i < count; i++) sum += numbers[i];
    return sum > 0;
}
