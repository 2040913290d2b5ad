// world: holds
// property: memory
// native: ext
// why: a number is returned, and compared with the length
unsigned skipped(const char *text);
int main(void)
{
    char text[4] = "abc";
    unsigned at = skipped(text);
    if (at < sizeof text)
        text[at] = 0;
    return text[0];
}
