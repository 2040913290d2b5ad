#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "yyjson.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    yyjson_doc *doc = yyjson_read((const char *)data + 1, size - 1, data[0] & 0x7c);
    if (doc) {
        free(yyjson_write(doc, data[0] & 3, NULL));
        yyjson_doc_free(doc);
    }
    return 0;
}
