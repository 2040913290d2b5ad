#include <stddef.h>
#include <stdint.h>

#include "picohttpparser.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *method, *path;
    size_t method_len, path_len, count = 16;
    struct phr_header headers[16];
    int minor;
    phr_parse_request((const char *)data, size, &method, &method_len, &path, &path_len, &minor, headers, &count, 0);
    return 0;
}
