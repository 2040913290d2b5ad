#include <stddef.h>
#include <stdint.h>

#include "buffer.h"
#include "document.h"
#include "html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hoedown_renderer *renderer = hoedown_html_renderer_new(0, 0);
    hoedown_document *document = hoedown_document_new(renderer, HOEDOWN_EXT_TABLES | HOEDOWN_EXT_AUTOLINK, 16);
    hoedown_buffer *out = hoedown_buffer_new(64);

    hoedown_document_render(document, out, data, size);
    hoedown_buffer_free(out);
    hoedown_document_free(document);
    hoedown_html_renderer_free(renderer);
    return 0;
}
