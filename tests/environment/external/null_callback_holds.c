// world: holds
// property: memory
// native: ext
// why: what is returned is only compared; the function that is called is the program's
typedef void handler(void);
handler *handler_for(int event);
static int calls;
static void own(void) { calls++; }
int main(void)
{
    handler *h = handler_for(1);
    if (h)
        h = own;
    else
        h = own;
    h();
    return 0;
}
