// world: breaks
// property: memory
// native: ext
// why: a length that comes back need not be one that fits
void receive(char *into, unsigned *length);
int main(void)
{
    char text[8] = "";
    unsigned length = sizeof text - 1;
    receive(text, &length);
    text[length] = 0;
    return text[0];
}
