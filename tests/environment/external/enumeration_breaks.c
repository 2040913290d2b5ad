// world: breaks
// property: memory
// native: ext
// why: an enumeration holds numbers without a name
enum colour { RED, GREEN, BLUE };
enum colour pick(void);
static const int shades[3] = {1, 2, 3};
int main(void)
{
    return shades[pick()];
}
