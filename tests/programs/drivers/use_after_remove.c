/* The device goes away while a request is in flight; its completion still looks at the state. */
#include <stdlib.h>

struct state {
    int pending;
    int errors;
};

extern int request_status(void);
extern int device_present(void);

int main(void)
{
    struct state *state = calloc(1, sizeof *state);
    int status;

    if (!state)
        return 1;
    state->pending = 1;
    status = request_status();
    if (!device_present()) {
        free(state);
#ifdef FIXED
        return 2;
#endif
    }
    if (status < 0)
        state->errors++; /* here */
    if (device_present())
        return 0;
    return 3;
}
