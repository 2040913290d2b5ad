/* Remove the negative readings from a buffer by moving the rest down. */
#include <assert.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);

#define CAP 500

static int buf[CAP];

static unsigned drop_negatives(unsigned used)
{
  unsigned i = 0;
  while (i < used) {
    if (buf[i] < 0) {
      for (unsigned j = i + 1; j < used; j++)
        buf[j - 1] = buf[j];
      used--;
#ifndef FIXED
      i++;                  /* skips the element that was moved into place i */
#endif
    } else {
      i++;
    }
  }
  return used;
}

int main(void)
{
  unsigned used = __VERIFIER_nondet_uint();
  if (used > CAP)
    return 0;
  for (unsigned i = 0; i < used; i++)
    buf[i] = __VERIFIER_nondet_int();

  unsigned kept = drop_negatives(used);
  assert(kept <= used);

  for (unsigned i = 0; i < kept; i++)
    assert(buf[i] >= 0);
  return 0;
}

/* Proof (FIXED): in drop_negatives all elements before i are >= 0, and i only
   grows over an element that was tested; moving down writes places >= i only,
   so this stays true.  used never exceeds CAP, so j < used <= CAP is in range. */
