/* An area, row by row. */
int __VERIFIER_nondet_int(void);
void reach_error(void);

int main(void)
{
    int rows = __VERIFIER_nondet_int(), columns = __VERIFIER_nondet_int();
    if (rows < 0 || rows > 1000 || columns < 1 || columns > 1000)
        return 0;
    int area = 0, row = 0;
#ifdef FIXED
    while (row < rows) {
#else
    while (row <= rows) {
#endif
        area += columns;
        row++;
    }
    if (area != rows * columns)
        reach_error();
    return 0;
}
