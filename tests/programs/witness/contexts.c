/* Safe: a function with a loop that is called with different arguments. */
extern void reach_error(void);

static int sum(int n, int step)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += step;
    if (s > 100)
        reach_error();
    return s;
}

int main(void)
{
    return sum(5, 2) + sum(7, 3);
}
