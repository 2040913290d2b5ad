/* The stream object behind FILE. Its first words lie where glibc's do: code compiled against
 * glibc's headers may test the flags or the buffer pointers inline, finds "end of file" and "error"
 * where it looks and the buffers always empty, and calls __uflow and __overflow, which are stubs
 * too. */
#ifndef CRUNNER_STDIO_STUB_H
#define CRUNNER_STDIO_STUB_H

#include "file_store.h"

#define STREAM_EOF 0x10
#define STREAM_ERROR 0x20

typedef struct crunner_stream {
    int flags;
    char *glibc_pointers[8];
    int fd;
    int pushed;
    unsigned char pushback[8];
    /* What setvbuf() was given: its first byte and its last. */
    char *buffer, *buffer_last;
    /* glibc's FILE has 216 bytes, which a program may copy. */
    char rest[112];
} stream;
_Static_assert(sizeof(stream) == 216, "the size of FILE");

extern stream *CRUNNER_stdin, *CRUNNER_stdout, *CRUNNER_stderr;

int CRUNNER_fgetc(stream *in);
int CRUNNER_ungetc(int c, stream *in);
/* What passes a stream passes its buffer: one that the program gave has to be there still. */
void crunner_stream_buffer(stream *s);
/* Writes to a stream; 0 when it cannot. */
int crunner_stream_write(stream *out, const void *bytes, size_t n);

#endif
