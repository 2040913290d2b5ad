#include <stdint.h>

#include "expat.h"

static void on_start(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)name;
    while (*attributes)
        attributes += 2, ++*(int *)user;
}

static void on_end(void *user, const XML_Char *name)
{
    (void)name;
    --*(int *)user;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int depth = 0;
    XML_Parser parser = XML_ParserCreate(NULL);

    if (!parser)
        return 0;
    /* Names are hashed with a salt from the clock otherwise. */
    XML_SetHashSalt(parser, 1);
    XML_SetUserData(parser, &depth);
    XML_SetElementHandler(parser, on_start, on_end);
    XML_Parse(parser, (const char *)data, (int)size, 1);
    XML_ParserFree(parser);
    return 0;
}
