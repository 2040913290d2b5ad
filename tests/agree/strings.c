/* The string functions on text from standard input. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

int main(void)
{
    char line[128], copy[160], *word[32];
    size_t words = 0;
    if (!fgets(line, sizeof line, stdin))
        return 1;
    line[strcspn(line, "\n")] = '\0';
    strcpy(copy, line);
    for (char *w = strtok(copy, " ,;"); w && words < 32; w = strtok(NULL, " ,;"))
        word[words++] = w;
    qsort(word, words, sizeof word[0], by_text);
    for (size_t i = 0; i < words; i++) {
        char out[64];
        char *end;
        long n = strtol(word[i], &end, 0);
        int kept = snprintf(out, sizeof out, "%-8.5s|%5ld|%02x", word[i], n, (unsigned char)*end);
        printf("%s %d %zu\n", out, kept, strlen(word[i]));
        if (isdigit((unsigned char)word[i][0]) && strchr(word[i], 'x'))
            puts("hex");
        for (char *c = word[i]; *c; c++)
            *c = (char)toupper((unsigned char)*c);
        if (strstr(word[i], "END"))
            return 2;
        if (i && memcmp(word[i], word[i - 1], 2) == 0)
            printf("same start as before\n");
    }
    int a = 0, b = 0;
    char name[16] = "";
    int got = sscanf(line, "%d-%x %15[a-z]", &a, (unsigned *)&b, name);
    printf("%d %d %d %s\n", got, a, b, name);
    memmove(line + 3, line, 20);
    line[25] = 0;
    printf("%zu %s\n", strlen(line), strrchr(line, ' ') ? "spaces" : "none");
    return (int)words & 63;
}
