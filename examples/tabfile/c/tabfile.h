/* Reads the index of a TAB file: a header under a checksum, a table of records, and the data that the records point
 * into. All numbers are little-endian.
 *
 *   header   0  4  "TAB\x1a"
 *            4  2  version, 1 or 2
 *            6  2  number of records, at most TAB_MAX_RECORDS
 *            8  2  size of a record in the table, at least TAB_RECORD_SIZE: later versions may add fields at the end
 *           10  2  offset of the table
 *           12  4  offset of the data
 *           16  4  version 2: what the writer likes to say; version 1: 0
 *           20  4  CRC-32 of bytes 0 to 19
 *   record   0  1  kind
 *            1  1  flags
 *            2  2  length
 *            4  4  offset in the data
 */
#ifndef TABFILE_H
#define TABFILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TAB_HEADER_SIZE 24
#define TAB_RECORD_SIZE 8
#define TAB_MAX_RECORD_SIZE 4096
#define TAB_MAX_RECORDS 64

enum tab_kind { TAB_RAW = 0, TAB_TEXT = 1, TAB_NUMBERS = 2 };

enum tab_error {
    TAB_OK = 0,
    TAB_TRUNCATED = -1,
    TAB_NO_TAB_FILE = -2,
    TAB_BAD_VERSION = -3,
    TAB_BAD_CHECKSUM = -4,
    TAB_BAD_HEADER = -5,
    TAB_BAD_RECORD = -6
};

struct tab_record {
    uint8_t kind;
    uint8_t flags;
    uint16_t length;
    uint32_t offset; /* in the file */
};

struct tab_index {
    uint16_t version;
    uint16_t count;
    uint32_t remark;
    struct tab_record records[TAB_MAX_RECORDS];
};

/* Reads the index of the file at `bytes`. Everything that it says of the file was checked against `size`. */
int tab_read(const uint8_t *bytes, size_t size, struct tab_index *index);

/* CRC-32 as zip has it. */
uint32_t tab_crc32(const uint8_t *bytes, size_t size);

#ifdef __cplusplus
}
#endif

#endif
