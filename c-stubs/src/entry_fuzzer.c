/* The driver for libFuzzer's convention. The data is in a heap block of exactly its size, so that
 * an access one byte too far is detected; the block does not count as a leak.
 * With -DCRUNNER_FUZZER_INITIALIZE the program also has an LLVMFuzzerInitialize, which is called
 * first. */
#include "stub.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#ifdef CRUNNER_FUZZER_INITIALIZE
int LLVMFuzzerInitialize(int *argc, char ***argv);
static char program_name[] = "program";
static char *arguments[2] = {program_name, 0};
#endif

static uint8_t *data;

static void release(void) { free(data); }

void cegar_entry(void) {
#ifdef CRUNNER_FUZZER_INITIALIZE
    int argc = 1;
    char **argv = arguments;
    LLVMFuzzerInitialize(&argc, &argv);
#endif
    size_t size = crunner_remaining("data");
    data = malloc(size);
    crunner_assume(data != 0);
    if (size) crunner_choose("data", data, size);
    crunner_at_end(release);
    crunner_finish(LLVMFuzzerTestOneInput(data, size));
}
