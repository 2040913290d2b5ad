/* The files of a run: see file_store.c. */
#ifndef CRUNNER_FILE_STORE_H
#define CRUNNER_FILE_STORE_H

#include "stub.h"

struct crunner_content;

/* The file called `name`, whether or not it exists; NULL: no memory. */
struct crunner_content *crunner_content(const char *name);
/* Whether it exists. The first call chooses this. */
int crunner_content_exists(struct crunner_content *file);
/* Whether it is known to exist. Chooses nothing. */
int crunner_content_is_there(struct crunner_content *file);
/* Makes it an existing, empty file. */
void crunner_content_create(struct crunner_content *file);
void crunner_content_remove(struct crunner_content *file);
void crunner_content_rename(struct crunner_content *file, const char *name);
/* The byte at `at`, -1 past the end, or a fault. */
int crunner_content_byte(struct crunner_content *file, size_t at);
/* Its size. Reads all bytes that were not read yet. */
size_t crunner_content_size(struct crunner_content *file);
/* Writes one byte; a gap is filled with zeros. 0: no memory. */
int crunner_content_put(struct crunner_content *file, size_t at, unsigned char byte);
void crunner_content_truncate(struct crunner_content *file, size_t size);

int crunner_content_is_pipe(struct crunner_content *file);
int crunner_pipe_open(int ends[2]);
/* Whether there is, or was, a second process (process.c). */
extern int crunner_forked;

/* Descriptors. 0, 1 and 2 are open from the start. */
int crunner_descriptor_open(struct crunner_content *file, int readable, int writable, int append);
int crunner_descriptor_close(int fd);
int crunner_descriptor_valid(int fd);
/* Fails with EBADF, and relies on what the descriptor was when the program began. */
int crunner_descriptor_refused(int fd);
int crunner_descriptor_readable(int fd);
int crunner_descriptor_writable(int fd);
/* Another descriptor, from `least` on, for the same open file. */
int crunner_descriptor_copy(int fd, int least);
void crunner_descriptor_replace(int fd, int wanted);
/* Whether a descriptor may have this number. */
int crunner_descriptor_room(int fd);
/* The error that the next read reports, or 0. */
int *crunner_descriptor_error(int fd);
int crunner_descriptor_is_empty_pipe(int fd);
/* Whether it is the writing end of a pipe without readers. */
int crunner_descriptor_is_broken_pipe(int fd);
/* The next byte, -1 at the end, or a fault. */
int crunner_descriptor_byte(int fd);
/* Writes to the file and records the output. 0: no memory. */
int crunner_descriptor_write(int fd, const unsigned char *bytes, size_t n);
/* Moves the position to the end. For a file that is written at its end, the position is determined
 * only when it is needed. */
void crunner_descriptor_to_end(int fd);
/* From now on, every write appends. */
void crunner_descriptor_append(int fd);
int crunner_descriptor_appends(int fd);
/* Records that a stream, or a call with a number, uses a descriptor. Both may do so only as long as
 * no buffer is in between. */
void crunner_descriptors_by_stream(void);
void crunner_descriptors_by_number(void);
/* lseek: returns the new position, or -1. */
long crunner_descriptor_seek(int fd, long offset, int whence);
struct crunner_content *crunner_descriptor_content(int fd);

#endif
