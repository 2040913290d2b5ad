/* The smallest, largest and mean of what is read, printed. Wrong: the text of a number has no room for the digits of a large one. */
#include <stdio.h>

int main(void) {
    double values[16], least = 1e300, most = -1e300, sum = 0;
    int count = 0, c;
    while (count < 16 && (c = getchar()) != EOF) values[count++] = c == '!' ? 1e30 : c / 3.0;
    for (int i = 0; i < count; i++) {
        if (values[i] < least) least = values[i];
        if (values[i] > most) most = values[i];
        sum += values[i];
    }
    char text[24];
#ifdef FIXED
    snprintf(text, sizeof text, "%.2f", sum);
#else
    sprintf(text, "%.2f", sum);
#endif
    printf("%s of %d: %8.3f to %-12e, %g\n", text, count, least, most, count ? sum / count : 0.0);
    return 0;
}
