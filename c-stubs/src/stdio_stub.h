/* The stream object behind FILE. Its first words have the layout of glibc's. Code compiled against
 * glibc's headers may test the flags or the buffer pointers inline: it finds "end of file" and
 * "error" at the expected places and the buffers always empty, and then calls __uflow and
 * __overflow, which are stubs too. */
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
    /* The first and the last byte of the buffer that setvbuf() was given. */
    char *buffer, *buffer_last;
    /* glibc's FILE has 216 bytes, which a program may copy. */
    char rest[112];
} stream;
_Static_assert(sizeof(stream) == 216, "the size of FILE");

extern stream *CRUNNER_stdin, *CRUNNER_stdout, *CRUNNER_stderr;

int CRUNNER_fgetc(stream *in);
int CRUNNER_ungetc(int c, stream *in);
/* Accesses the buffer of a stream like every operation on it: a buffer that the program passed must
 * still exist. */
void crunner_stream_buffer(stream *s);
/* Writes to a stream; 0 on failure. */
int crunner_stream_write(stream *out, const void *bytes, size_t n);

#endif
