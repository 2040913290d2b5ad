#include "linebuf.h"

#include <stdio.h>
#include <stdlib.h>

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    if (value == NULL)
        return otherwise;
    return value[0] == '\0' ? -1 : (unsigned char)value[0];
}

void linebuf_init(struct linebuf *lb, linebuf_source source, void *context)
{
    lb->text[0] = '\0';
    lb->length = 0;
    lb->number = 0;
    lb->next_number = 1;
    lb->comment = setting("LINEBUF_COMMENT", '#');
    lb->joint = setting("LINEBUF_JOINT", ' ');
    lb->source = source;
    lb->context = context;
}

int linebuf_stdin(void *context)
{
    (void)context;
    return getchar();
}

/* One character may always be added if this holds, and the NUL behind it. */
static int has_room(const struct linebuf *lb)
{
    return lb->length < LINEBUF_SIZE - 1;
}

/* The next character of the logical line: -1 where it ends, -2 where the input does. */
static int next_char(struct linebuf *lb)
{
    int c = lb->source(lb->context);
    while (c == '\\') {
        c = lb->source(lb->context);
        if (c != '\n')
            return c < 0 ? '\\' : c;
        lb->next_number++;
#ifdef FIXED
        if (lb->joint >= 0 && lb->length > 0 && has_room(lb))
#else
        if (lb->joint >= 0 && lb->length > 0)
#endif
            lb->text[lb->length++] = (char)lb->joint;
        c = lb->source(lb->context);
    }
    if (c == '\n') {
        lb->next_number++;
        return -1;
    }
    return c < 0 ? -2 : c;
}

/* Reads one logical line, which may be empty. */
static int read_line(struct linebuf *lb, int *at_end)
{
    int c, in_comment = 0, fits = 1;

    lb->length = 0;
    lb->number = lb->next_number;
    while ((c = next_char(lb)) >= 0) {
        if (c == lb->comment)
            in_comment = 1;
        if (in_comment)
            continue;
        if (has_room(lb))
            lb->text[lb->length++] = (char)c;
        else
            fits = 0;
    }
    lb->text[lb->length] = '\0';
    *at_end = c == -2;
    return fits;
}

int linebuf_next(struct linebuf *lb)
{
    int at_end;
    do {
        int fits = read_line(lb, &at_end);
        if (!fits)
            return LINEBUF_TOO_LONG;
        if (lb->length > 0)
            return LINEBUF_LINE;
    } while (!at_end);
    return LINEBUF_END;
}
