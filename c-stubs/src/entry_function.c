/* The driver for a function without parameters (--entry, and harnesses), which is renamed to
 * cegar_user_entry. With -DCRUNNER_ENTRY_VOID it returns nothing. */
#include "stub.h"

#ifdef CRUNNER_ENTRY_VOID
void cegar_user_entry(void);

void cegar_entry(void) {
    cegar_user_entry();
    crunner_finish(0);
}
#else
int cegar_user_entry(void);

void cegar_entry(void) { crunner_finish(cegar_user_entry()); }
#endif
