// world: holds
// property: memory
// native: ext
// why: the length is limited again
void receive(char *into, unsigned *length);
int main(void)
{
    char text[8] = "";
    unsigned length = sizeof text - 1;
    receive(text, &length);
    if (length > sizeof text - 1)
        length = sizeof text - 1;
    text[length] = 0;
    return text[0];
}
