/* Crossing of a north-south road with an east-west road that has bus lanes. */
#include <assert.h>

extern _Bool __VERIFIER_nondet_bool(void);

enum colour { RED, YELLOW, GREEN };
enum phase { NS_GO, NS_STOP, EW_GO, EW_STOP };

static enum colour ns = GREEN, ew = RED;
static enum phase phase = NS_GO;
static unsigned timer = 30;

static void go_ew(void)
{
  ew = GREEN;
  phase = EW_GO;
  timer = 20;
}

static void tick(_Bool bus)     /* bus: one is waiting in east-west direction */
{
  switch (phase) {
  case NS_GO:
    if (timer > 0 && !bus) {
      timer--;
    } else {
      ns = YELLOW;
      phase = NS_STOP;
      timer = 4;
    }
    break;
  case NS_STOP:
    if (bus && timer > 1) {
#ifdef FIXED
      timer = 1;                /* hurry up */
#else
      go_ew();                  /* but north-south is still yellow */
#endif
    } else if (timer > 0) {
      timer--;
    } else {
      ns = RED;
      go_ew();
    }
    break;
  case EW_GO:
    if (timer > 0) {
      timer--;
    } else {
      ew = YELLOW;
      phase = EW_STOP;
      timer = 4;
    }
    break;
  case EW_STOP:
    if (timer > 0) {
      timer--;
    } else {
      ew = RED;
      ns = GREEN;
      phase = NS_GO;
      timer = 30;
    }
    break;
  }
}

int main(void)
{
  for (;;) {
    tick(__VERIFIER_nondet_bool());
    assert(ns == RED || ew == RED);
    assert(timer <= 30);
  }
}

/* Proof (FIXED): in the phases NS_GO and NS_STOP ew is RED, in EW_GO and
   EW_STOP ns is RED; each change of phase keeps that.  The timer is only
   counted down or set to at most 30. */
