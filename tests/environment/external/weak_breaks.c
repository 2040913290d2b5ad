// world: breaks
// property: memory
// native: alone
// why: a weak function that nobody defines is at address 0
__attribute__((weak)) int extra(void);
int main(void)
{
    return extra();
}
