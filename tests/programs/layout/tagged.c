/* Tagged values are taken out of an array, one by one, as numbers, and used as pointers where the tag says so.
 * FIXED: the pointer is used if the tag is a pointer's. */
extern unsigned char __VERIFIER_nondet_uchar(void);

struct value {
    unsigned tag;
    union {
        double number;
        int *pointer;
    } as;
};

int main(void) {
    int count = 0;
    struct value all[2];
    for (int i = 0; i < 2; i++) {
        all[i].tag = __VERIFIER_nondet_uchar() & 1;
        if (all[i].tag) all[i].as.pointer = &count;
        else all[i].as.number = 1;
    }
    for (int i = 0; i < 2; i++) {
        struct value *at = &all[i], old;
        old.tag = at->tag;
        old.as.number = at->as.number;
        at->tag = 0;
#ifdef FIXED
        if (old.tag)
#endif
            ++*old.as.pointer;
    }
    return count;
}
