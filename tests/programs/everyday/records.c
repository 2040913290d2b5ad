/* Records with a length and a value. Wrong: a length that is as long as the value's room, and one more, is taken. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct record {
    uint8_t tag, length, value[30];
};

static struct record records[8];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t count = 0, at = 0;
    while (at + 2 <= size && count < 8) {
        uint8_t length = data[at + 1];
#ifdef FIXED
        if (length > 30 || at + 2 + length > size) break;
#else
        if (length > 31 || at + 2 + length > size) break;
#endif
        struct record *record = &records[count++];
        record->tag = data[at];
        record->length = length;
        for (uint8_t i = 0; i < length; i++) record->value[i] = 0;
        memcpy(record->value, data + at + 2, length);
        at += 2 + length;
    }
    int sum = 0;
    for (size_t i = 0; i < count; i++)
        for (uint8_t j = 0; j < records[i].length; j++) sum += records[i].value[j];
    return sum == 1;
}
