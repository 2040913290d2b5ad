// The product of two matrices. Wrong: nobody compares the columns of the one with the rows of the other.
#include <stdio.h>
#include <stdlib.h>

struct matrix {
    size_t rows, cols;
    double *at;
};

static int matrix_init(struct matrix *m, size_t rows, size_t cols) {
    if (rows == 0 || cols == 0 || rows > 64 || cols > 64) return -1;
    m->at = calloc(rows * cols, sizeof *m->at);
    if (!m->at) return -1;
    m->rows = rows;
    m->cols = cols;
    return 0;
}

static int multiply(struct matrix *to, const struct matrix *a, const struct matrix *b) {
#ifdef FIXED
    if (a->cols != b->rows) return -1;
#endif
    if (matrix_init(to, a->rows, b->cols)) return -1;
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < b->cols; j++) {
            double sum = 0;
            for (size_t k = 0; k < a->cols; k++)
                sum += a->at[i * a->cols + k] * b->at[k * b->cols + j];
            to->at[i * to->cols + j] = sum;
        }
    return 0;
}

int main(void) {
    struct matrix a, b, c;
    size_t n = getchar(), m = getchar(), l = getchar(), k = getchar();
    if (matrix_init(&a, n, m)) return 1;
    if (matrix_init(&b, l, k)) return 1;
    for (size_t i = 0; i < n * m; i++) a.at[i] = i;
    if (multiply(&c, &a, &b) == 0) {
        printf("%f\n", c.at[c.rows * c.cols - 1]);
        free(c.at);
    }
    free(a.at);
    free(b.at);
    return 0;
}
