/* Frames from a stream that comes in pieces. */
#ifndef FRAMES_H
#define FRAMES_H

#include <stddef.h>

#define FRAMES_REFUSED (-1)
#define FRAMES_TOO_LONG (-2)

/* A decoder, or FRAMES_REFUSED. */
int frames_open(int version);

/* Which byte ends a frame, and how long a frame may be. */
int frames_configure(int decoder, int mark, int limit);

/* How many frames were completed. */
int frames_feed(int decoder, const unsigned char *piece, size_t size);

/* The rest, which no mark has ended: how many bytes of it there are. */
int frames_finish(int decoder, unsigned char *out, size_t capacity);

int frames_close(int decoder);

#endif
