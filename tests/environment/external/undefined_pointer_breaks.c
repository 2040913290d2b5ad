// world: breaks
// property: memory
// native: ext
// why: a pointer that another file defines may be NULL
extern const char *banner;
int main(void)
{
    return banner[0];
}
