// world: breaks
// property: memory
// native: ext
// why: a line may begin with a zero byte, and then its length is 0
#include <stdio.h>
#include <string.h>
int main(void)
{
    char room[9] = "", *line = room + 1;
    char text[8];
    if (!fgets(text, sizeof text, stdin))
        return 1;
    text[strlen(text) - 1] = 0;
    return line[0];
}
