/* Functions that call themselves and each other, with what each call has of its own. */
void reach_error(void);

static unsigned ackermann(unsigned m, unsigned n)
{
    return m == 0 ? n + 1 : ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

static int place[8], solutions;

static void queens(int row)
{
    if (row == 6) {
        solutions++;
        return;
    }
    for (int column = 0; column < 6; column++) {
        int free = 1;
        for (int above = 0; above < row; above++) {
            int distance = column - place[above];
            if (distance == 0 || distance == row - above || distance == above - row)
                free = 0;
        }
        if (free) {
            place[row] = column;
            queens(row + 1);
        }
    }
}

int main(void)
{
    if (ackermann(2, 9) != 21)
        reach_error();
    queens(0);
#ifdef FIXED
    if (solutions != 4)
#else
    if (solutions != 2)
#endif
        reach_error();
    return 0;
}
