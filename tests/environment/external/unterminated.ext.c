#include <string.h>
void host_name(char *into, size_t n) { memset(into, 'h', n); }
