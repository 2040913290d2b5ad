// world: breaks
// property: memory
// native: ext
// why: the second of the variable arguments is written too
int read_values(const char *format, ...);
static int grid[4][4];
int main(void)
{
    unsigned row = 0, column = 0;
    if (read_values("%u %u", &row, &column) != 2 || row >= 4)
        return 1;
    return grid[row][column];
}
