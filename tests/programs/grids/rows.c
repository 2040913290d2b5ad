// A pointer to the beginning of each row. Wrong: the last row is behind the end.
#include <stdio.h>
#include <stdlib.h>

static long sum_of_rows(const long *table, int rows, int cols) {
    long sum = 0;
#ifdef FIXED
    for (int i = 0; i < rows; i++) {
#else
    for (int i = 1; i <= rows; i++) {
#endif
        const long *row = &table[i * cols];
        for (int j = 0; j < cols; j++) sum += row[j];
    }
    return sum;
}

int main(void) {
    int rows, cols;
    if (scanf("%d %d", &rows, &cols) != 2) return 1;
    if (rows <= 0 || rows > 200 || cols <= 0 || cols > 30) return 1;
    long *table = calloc((size_t)rows, sizeof(long) * (size_t)cols);
    if (!table) return 1;
    for (int i = 0; i < rows; i++) table[i * cols] = i;
    printf("%ld\n", sum_of_rows(table, rows, cols));
    free(table);
    return 0;
}
