/* Floating-point numbers whose texts are longer than a line's buffer, with every number of digits in widths and precisions. */
#include <stdio.h>
#include <string.h>

int main(void) {
    unsigned char bytes[8];
    double d = 0;
    if (fread(bytes, 1, sizeof bytes, stdin) == sizeof bytes) memcpy(&d, bytes, sizeof d);
    printf("%.2f|%8.3f|%-12e|%+.0f|% g|%#.12g|%030.10f\n", d, d, d, d, d, d, d);
    printf("%.100f\n", d);
    printf("%.1000e %5000.1f\n", d, d);
    printf("%f %f %f\n", 1e300, -1e308, d);
    printf("%-600.7f|%*.*f|%.*f\n", d, 700, 9, d, -1, d);
    char text[40];
    int n = snprintf(text, sizeof text, "%f", d * 1e200);
    printf("%d %s\n", n, text);
    n = snprintf(text, 0, "%.1048576f", d);
    printf("%d\n", n > 0);
    return 0;
}
