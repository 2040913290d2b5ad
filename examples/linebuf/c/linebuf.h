/* Reads logical lines into a record of fixed size: comments are left out, and a line that ends in a backslash goes on
 * in the next one. */
#ifndef LINEBUF_H
#define LINEBUF_H

#ifdef __cplusplus
extern "C" {
#endif

#define LINEBUF_SIZE 64

/* What linebuf_next answers. */
#define LINEBUF_LINE 1
#define LINEBUF_END 0
#define LINEBUF_TOO_LONG (-1)

/* Where bytes come from: the next one as an unsigned char, or a negative number at the end. */
typedef int (*linebuf_source)(void *context);

struct linebuf {
    char text[LINEBUF_SIZE]; /* the line, ended by NUL */
    unsigned length;         /* without the NUL */
    unsigned number;         /* of the physical line that it began on, from 1 */
    unsigned next_number;
    int comment;             /* the character that begins a comment, or -1 */
    int joint;               /* stands where two lines were joined, or -1 */
    linebuf_source source;
    void *context;
};

/* Takes its settings from the environment: LINEBUF_COMMENT and LINEBUF_JOINT, one character each, an empty value for
 * none; '#' and ' ' where they are not set. */
void linebuf_init(struct linebuf *lb, linebuf_source source, void *context);

/* Reads the next line that is not empty. LINEBUF_TOO_LONG: it did not fit, the rest of it was left out. */
int linebuf_next(struct linebuf *lb);

/* The source that reads standard input. */
int linebuf_stdin(void *context);

#ifdef __cplusplus
}
#endif

#endif
