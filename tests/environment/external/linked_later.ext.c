struct box {
    int *value;
};
static struct box *kept;
void give(struct box *b) { kept = b; }
void step(void)
{
    if (kept->value)
        *kept->value = 3;
}
