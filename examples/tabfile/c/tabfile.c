#include "tabfile.h"

/* What the register holds after a run of bytes that ends in its own CRC, whatever the bytes. */
#define RESIDUE 0xdebb20e3u

struct header {
    uint16_t version, count, record_size, table;
    uint32_t data, remark;
};

static uint16_t u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const uint8_t *p)
{
    return (uint32_t)u16(p) | (uint32_t)u16(p + 2) << 16;
}

static uint32_t crc_register(const uint8_t *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0xedb88320u & (0u - (crc & 1u)));
    }
    return crc;
}

uint32_t tab_crc32(const uint8_t *bytes, size_t size)
{
    return ~crc_register(bytes, size);
}

static int read_header(const uint8_t *bytes, size_t size, struct header *h)
{
    if (size < TAB_HEADER_SIZE)
        return TAB_TRUNCATED;
    if (u32(bytes) != 0x1a424154u)
        return TAB_NO_TAB_FILE;

    h->version = u16(bytes + 4);
    h->count = u16(bytes + 6);
    h->record_size = u16(bytes + 8);
    h->table = u16(bytes + 10);
    h->data = u32(bytes + 12);
    h->remark = u32(bytes + 16);

    if (h->version != 1 && h->version != 2)
        return TAB_BAD_VERSION;
    if (crc_register(bytes, TAB_HEADER_SIZE) != RESIDUE)
        return TAB_BAD_CHECKSUM;
    if (h->version == 1 && h->remark != 0)
        return TAB_BAD_HEADER;
    return TAB_OK;
}

/* The table lies behind the header and before the data, the data in the file. */
static int check_layout(const struct header *h, size_t size)
{
#ifdef FIXED
    uint32_t table_size = (uint32_t)h->count * h->record_size;
#else
    uint16_t table_size = (uint16_t)((uint32_t)h->count * h->record_size);
#endif
    if (h->count > TAB_MAX_RECORDS)
        return TAB_BAD_HEADER;
    if (h->record_size < TAB_RECORD_SIZE || h->record_size > TAB_MAX_RECORD_SIZE)
        return TAB_BAD_HEADER;
    if (h->table < TAB_HEADER_SIZE || h->data > size)
        return TAB_BAD_HEADER;
    if (h->table > h->data || table_size > h->data - h->table)
        return TAB_BAD_HEADER;
    return TAB_OK;
}

static int read_record(const uint8_t *at, const struct header *h, size_t size, struct tab_record *record)
{
    uint32_t offset = u32(at + 4);

    record->kind = at[0];
    record->flags = at[1];
    record->length = u16(at + 2);

    switch (record->kind) {
    case TAB_RAW:
    case TAB_TEXT:
        break;
    case TAB_NUMBERS:
        if (record->length % 4 != 0)
            return TAB_BAD_RECORD;
        break;
    default:
        return TAB_BAD_RECORD;
    }
    if (offset > size - h->data || record->length > size - h->data - offset)
        return TAB_BAD_RECORD;
    record->offset = h->data + offset;
    return TAB_OK;
}

int tab_read(const uint8_t *bytes, size_t size, struct tab_index *index)
{
    struct header h;
    int error = read_header(bytes, size, &h);
    if (error != TAB_OK)
        return error;
    error = check_layout(&h, size);
    if (error != TAB_OK)
        return error;

    index->version = h.version;
    index->count = h.count;
    index->remark = h.remark;
    for (uint16_t i = 0; i < h.count; i++) {
        const uint8_t *at = bytes + h.table + (size_t)i * h.record_size;
        error = read_record(at, &h, size, &index->records[i]);
        if (error != TAB_OK)
            return error;
    }
    return TAB_OK;
}
