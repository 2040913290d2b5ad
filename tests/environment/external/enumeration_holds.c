// world: holds
// property: memory
// native: ext
// why: every number is thought of
enum colour { RED, GREEN, BLUE };
enum colour pick(void);
static const int shades[3] = {1, 2, 3};
int main(void)
{
    switch (pick()) {
    case RED: return shades[0];
    case GREEN: return shades[1];
    case BLUE: return shades[2];
    default: return 0;
    }
}
