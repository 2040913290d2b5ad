// A matrix is written in the other order. Wrong: the rows of the result are taken for as long as those of the source.
#include <stdio.h>
#include <stdlib.h>

static void transpose(int *to, const int *from, int rows, int cols) {
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
#ifdef FIXED
            to[j * rows + i] = from[i * cols + j];
#else
            to[j * cols + i] = from[i * cols + j];
#endif
        }
}

int main(void) {
    int rows = getchar(), cols = getchar();
    if (rows < 1 || cols < 1 || rows > 50 || cols > 50) return 1;
    int *from = malloc(sizeof(int) * rows * cols);
    int *to = malloc(sizeof(int) * rows * cols);
    if (!from || !to) return 1;
    for (int i = 0; i < rows * cols; i++) from[i] = getchar();
    transpose(to, from, rows, cols);
    printf("%d\n", to[rows * cols - 1]);
    free(from);
    free(to);
    return 0;
}
