/* A union's byte lies where another member has padding.
 * FIXED: it is set on both ways. */
extern unsigned char __VERIFIER_nondet_uchar(void);

union cell {
    struct {
        char tag;
        long value;
    } plain;
    unsigned char bytes[16];
};

int main(void) {
    char table[4] = {0};
    for (int i = 0; i < 3; i++) {
        union cell cell;
        cell.plain.tag = 1;
        cell.plain.value = i;
#ifndef FIXED
        if (__VERIFIER_nondet_uchar())
#endif
            cell.bytes[3] = 2;
        table[cell.bytes[3] + cell.plain.tag]++;
    }
    return table[3];
}
