/* The operand stack of a tiny calculator on digits. */
#include <assert.h>
#include <stdlib.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

#define DEPTH 128

static int stack[DEPTH];
static int sp;                  /* number of values on the stack */

static void digit(int v)
{
  if (sp < DEPTH)
    stack[sp++] = v;
}

static void dup_top(void)
{
  if (sp > 0 && sp < DEPTH) {
    stack[sp] = stack[sp - 1];
    sp++;
  }
}

static void swap_top(void)
{
#ifdef FIXED
  if (sp >= 2) {
#else
  if (sp >= 1) {                /* needs two values */
#endif
    int t = stack[sp - 1];
    stack[sp - 1] = stack[sp - 2];
    stack[sp - 2] = t;
  }
}

static void add_mod10(void)
{
  if (sp >= 2) {
    int s = stack[sp - 1] + stack[sp - 2];
    sp--;
    stack[sp - 1] = s >= 10 ? s - 10 : s;
  }
}

int main(void)
{
  for (;;) {
    unsigned char c = __VERIFIER_nondet_uchar();
    if (c <= 9)
      digit(c);
    else if (c == 'd')
      dup_top();
    else if (c == 's')
      swap_top();
    else if (c == '+')
      add_mod10();
    else if (c == 'p' && sp > 0) {
      int v = stack[--sp];
      assert(v >= 0 && v <= 9);
    } else if (c == 'q')
      return 0;
  }
}

/* Proof (FIXED): 0 <= sp <= DEPTH is kept by each operation, and each access
   is to an index in [0, sp) or to sp < DEPTH.  All of stack[0..sp) are in
   0..9: digits are, dup and swap copy them, and the sum is folded modulo 10. */
