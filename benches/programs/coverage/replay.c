#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Runs the files whose paths stand on standard input, a line each. */
int main(void)
{
    static char path[4096];

    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        FILE *file = fopen(path, "rb");
        if (!file || fseek(file, 0, SEEK_END))
            return 2;
        long size = ftell(file);
        /* Its own block, of just this size. */
        uint8_t *data = malloc(size > 0 ? size : 1);
        rewind(file);
        if (size < 0 || !data || fread(data, 1, size, file) != (size_t)size)
            return 2;
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}
