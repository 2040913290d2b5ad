/* Bring the smallest element of an array to the front. */
#include <assert.h>
#include <stdlib.h>

extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);

static void swap(int *a, int *b)
{
  int t = *a;
  *a = *b;
  *b = t;
}

static unsigned index_of_min(const int *a, unsigned n)
{
  unsigned best = 0;
  for (unsigned i = 1; i < n; i++) {
#ifdef FIXED
    if (a[i] < a[best])
#else
    if (a[i] < a[0])        /* compares with the wrong element */
#endif
      best = i;
  }
  return best;
}

int main(void)
{
  unsigned n = __VERIFIER_nondet_uint();
  if (n == 0 || n > 1000)
    return 0;
  int *a = malloc(n * sizeof *a);
  if (a == NULL)
    return 0;
  for (unsigned i = 0; i < n; i++)
    a[i] = __VERIFIER_nondet_int();

  unsigned m = index_of_min(a, n);
  assert(m < n);
  swap(&a[0], &a[m]);

  unsigned k = __VERIFIER_nondet_uint();
  if (k < n)
    assert(a[0] <= a[k]);
  free(a);
  return 0;
}

/* Proof (FIXED): the search keeps best < i (and best < n) and a[best] <= a[j]
   for all j < i, so at the end a[m] is a least element of the array.  The swap
   only permutes two elements, so afterwards a[0] is <= every element. */
