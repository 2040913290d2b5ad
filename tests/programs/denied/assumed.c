/* Claims that hold only under an assumption, which has to be printed. */
#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crunner.h"

#if CASE == 1 /* external-ends: the function may call back before it ends the program. */
_Noreturn void serve(void (*step)(void));
static void step(void) { assert(0); }
int main(void) { serve(step); }
#elif CASE == 2 /* weak-symbols: another file may define it. */
__attribute__((weak)) int hook(void) { return 0; }
int main(void) {
    assert(hook() == 0);
    return 0;
}
#elif CASE == 3 /* volatile-pointers: a device could write it. */
static int choice(void) { return 1; }
static int (*volatile chosen)(void) = choice;
int main(void) {
    assert(chosen() == 1);
    return 0;
}
#elif CASE == 4 /* inherited: the signal may be ignored from the beginning. */
int main(void) {
    void (*before)(int) = signal(SIGUSR1, SIG_IGN);
    assert(before == SIG_DFL || before == SIG_ERR);
    return 0;
}
#elif CASE == 5 /* temporaries: the jump leads past the declaration of `late`. */
static int early;
int main(void) {
    int *p = &early;
    switch (crunner_get_byte() & 1) {
        int late;
    case 1:
        late = 5;
        p = &late;
        break;
    default: break;
    }
    return *p;
}
#elif CASE == 6 /* fast-math, with -ffast-math. */
int main(void) {
    float x = (float)crunner_get_byte();
    assert(x + 1.0f > x);
    return 0;
}
#elif CASE == 7 /* descriptors: a third one may be open. */
int main(void) {
    char c;
    assert(read(3, &c, 1) == -1);
    return 0;
}
#endif
