#include <stddef.h>
#include <stdint.h>

#include "oniguruma.h"

/* A byte says how long the pattern is; what follows it is searched. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    OnigEncoding encoding = ONIG_ENCODING_UTF8;
    regex_t *regex;
    OnigErrorInfo info;

    if (size < 2 || size > 200)
        return 0;
    const uint8_t *pattern = data + 1, *end = data + size;
    const uint8_t *text = pattern + (data[0] < size - 1 ? data[0] : size - 1);
    onig_initialize(&encoding, 1);
    onig_set_retry_limit_in_match(1000);
    onig_set_retry_limit_in_search(1000);
    if (onig_new(&regex, pattern, text, ONIG_OPTION_DEFAULT, encoding, ONIG_SYNTAX_DEFAULT, &info) == ONIG_NORMAL) {
        OnigRegion *region = onig_region_new();
        onig_search(regex, text, end, text, end, region, ONIG_OPTION_NONE);
        onig_region_free(region, 1);
        onig_free(regex);
    }
    onig_end();
    return 0;
}
