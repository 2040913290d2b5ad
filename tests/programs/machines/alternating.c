/* Alternating bit protocol over channels that lose and repeat. */
#include <assert.h>

extern unsigned __VERIFIER_nondet_uint(void);

static unsigned sent, delivered;        /* numbers of messages */

static _Bool s_bit = 1, waiting;        /* sender: last bit, awaits its ack */
static _Bool r_bit;                     /* receiver: bit it expects next */
static _Bool data, data_bit;            /* message under way */
static _Bool ack, ack_bit;              /* acknowledgement under way */

static void send_next(void)
{
  if (waiting)
    return;
  s_bit = !s_bit;
  sent++;
  data = 1;
  data_bit = s_bit;
  waiting = 1;
}

static void resend(void)
{
  if (waiting) {
    data = 1;
    data_bit = s_bit;
  }
}

static void receive_data(void)
{
  if (!data)
    return;
  if (data_bit == r_bit) {
    delivered++;
    r_bit = !r_bit;
  }
  ack = 1;
  ack_bit = data_bit;
}

static void receive_ack(void)
{
#ifdef FIXED
  if (ack && ack_bit == s_bit)
#else
  if (ack)                      /* may be a late one, of the message before */
#endif
    waiting = 0;
}

int main(void)
{
  for (;;) {
    switch (__VERIFIER_nondet_uint() % 6) {
    case 0: send_next(); break;
    case 1: resend(); break;
    case 2: receive_data(); break;
    case 3: receive_ack(); break;
    case 4: data = 0; break;
    default: ack = 0;
    }
    assert(sent - delivered <= 1);
  }
}

/* Proof (FIXED): data implies data_bit == s_bit; ack implies ack_bit != r_bit;
   sent - delivered is 0 if s_bit != r_bit, else 1; and not waiting implies
   s_bit != r_bit.  An ack is accepted only for s_bit, so then s_bit != r_bit. */
