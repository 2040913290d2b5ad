/* Two loops, one in the other, over a picture: the last pixel of the largest picture has no room. */
unsigned __VERIFIER_nondet_uint(void);

#ifndef SIDE
#define SIDE 300
#endif
#ifdef FIXED
#define ROOM (SIDE * SIDE)
#else
#define ROOM (SIDE * SIDE - 1)
#endif

static unsigned char picture[ROOM];

int main(void) {
    unsigned rows = __VERIFIER_nondet_uint(), columns = __VERIFIER_nondet_uint();
    if (rows > SIDE || columns > SIDE)
        return 1;
    unsigned at = 0;
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < columns; column++)
            picture[at++] = 1;
    return 0;
}
