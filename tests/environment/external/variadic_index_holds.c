// world: holds
// property: memory
// native: ext
// why: both are checked
int read_values(const char *format, ...);
static int grid[4][4];
int main(void)
{
    unsigned row = 0, column = 0;
    if (read_values("%u %u", &row, &column) != 2 || row >= 4 || column >= 4)
        return 1;
    return grid[row][column];
}
