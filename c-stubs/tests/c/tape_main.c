/* Runs each tape named on the command line in a separate process (a driver that uses one process
 * restores .data and .bss between runs), and prints how it ended. */
#include "crunner_rt.h"
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct crunner_options options = {.flags = CRUNNER_RECORD_EVENTS | CRUNNER_RECORD_OUTPUT | CRUNNER_CATCH_SIGNALS};
    struct crunner_rt *rt = crunner_rt_new(&options);
    if (!rt) return 1;
    for (int i = 1; i < argc; i++) {
        static uint8_t tape[1 << 16];
        struct crunner_result r;
        size_t n, events, output;
        fflush(stdout);
        if (fork() > 0) {
            wait(NULL);
            continue;
        }
        FILE *in = fopen(argv[i], "rb");
        if (!in) return 1;
        n = fread(tape, 1, sizeof tape, in);
        fclose(in);
        crunner_rt_run(rt, tape, n, &r);
        const uint8_t *at = crunner_rt_events(rt, &events);
        printf("%u %d %u %u %llu %llu [%s]", r.outcome, r.status, r.kind, r.line, (unsigned long long)r.consumed,
               (unsigned long long)r.heap_live, r.what);
        for (size_t p = 0; p < events;) {
            uint32_t name = at[p] | at[p + 1] << 8, bytes;
            p += 4;
            printf(" %.*s=", (int)name, (const char *)at + p);
            p += name;
            bytes = at[p] | at[p + 1] << 8;
            p += 4;
            for (uint32_t b = 0; b < bytes; b++) printf("%02x", at[p + b]);
            p += bytes;
        }
        at = crunner_rt_output(rt, &output);
        if (output) printf(" | ");
        for (size_t p = 0; p < output;) {
            uint32_t bytes = at[p + 4] | at[p + 5] << 8;
            fwrite(at + p + 8, 1, bytes, stdout);
            p += 8 + bytes;
        }
        printf("\n");
        fflush(stdout);
        _exit(0);
    }
    crunner_rt_delete(rt);
    return 0;
}
