// world: breaks
// property: memory
// native: ext
// why: a pointer to a function that is returned may be NULL
typedef void handler(void);
handler *handler_for(int event);
int main(void)
{
    handler *h = handler_for(1);
    h();
    return 0;
}
