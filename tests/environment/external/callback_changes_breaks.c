// world: breaks
// property: memory
// native: ext
// why: the callback moves the index between its check and its use
void each(void (*f)(void));
static unsigned at;
static int table[4];
static void forward(void) { at += 4; }
int main(void)
{
    at = 1;
    if (at < 4) {
        each(forward);
        return table[at];
    }
    return 0;
}
