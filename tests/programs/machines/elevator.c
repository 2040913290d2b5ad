/* An elevator that serves one call at a time in a house of chosen height. */
#include <assert.h>

extern int __VERIFIER_nondet_int(void);
extern _Bool __VERIFIER_nondet_bool(void);

static int top, floor_no, target, dir;
static _Bool door_open;

static void call(int f)
{
  if (f < 0 || f > top)
    return;
#ifdef FIXED
  if (dir != 0)
    return;                     /* busy */
#endif                          /* else the target is exchanged on the way */
  target = f;
}

static void step(void)
{
  if (dir != 0) {
    assert(!door_open);
    floor_no += dir;
    if (floor_no == target) {
      dir = 0;
      door_open = 1;
    }
  } else if (door_open) {
    door_open = 0;
  } else if (target > floor_no) {
    dir = 1;
  } else if (target < floor_no) {
    dir = -1;
  }
}

int main(void)
{
  top = __VERIFIER_nondet_int();
  if (top < 1 || top > 200)
    return 0;
  for (;;) {
    if (__VERIFIER_nondet_bool())
      call(__VERIFIER_nondet_int());
    else
      step();
    assert(floor_no >= 0 && floor_no <= top);
  }
}

/* Proof (FIXED): target is in [0, top]; dir == 1 implies floor_no < target and
   dir == -1 implies floor_no > target, since the target is not changed while
   the cabin moves and it stops there.  So floor_no stays in [0, top], and it
   moves only with the door closed. */
