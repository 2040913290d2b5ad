/* From the days since some day to a date and back, for some thousand days. */
void reach_error(void);

static int is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static const int lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

static int length(int year, int month)
{
    return lengths[month] + (month == 1 && is_leap(year));
}

static void date(int days, int *year, int *month, int *day)
{
    *year = 1970;
    while (days >= 365 + is_leap(*year))
        days -= 365 + is_leap((*year)++);
    *month = 0;
    while (days >= length(*year, *month))
        days -= length(*year, (*month)++);
    *day = days;
}

static int back(int year, int month, int day)
{
    int days = day;
#ifdef FIXED
    while (month-- > 0)
#else
    while (--month > 0)
#endif
        days += length(year, month);
    while (year-- > 1970)
        days += 365 + is_leap(year);
    return days;
}

int main(void)
{
    for (int days = 0; days < 24000; days += 17) {
        int year, month, day;
        date(days, &year, &month, &day);
        if (back(year, month, day) != days)
            reach_error();
    }
    return 0;
}
