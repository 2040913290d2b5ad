// world: holds
// property: memory
// native: ext
// why: only compared
extern const char *banner;
static const char fallback[] = "none";
int main(void)
{
    return banner ? 1 : fallback[0];
}
