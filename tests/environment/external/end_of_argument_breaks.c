// world: breaks
// property: memory
// native: ext
// assumption: external-results
// why: a pointer one past the end of the argument may be returned
char *skip(char *text);
int main(void)
{
    char text[4] = "abc";
    char *rest = skip(text);
    if (rest)
        *rest = 0;
    return text[0];
}
