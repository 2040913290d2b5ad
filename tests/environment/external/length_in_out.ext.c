void receive(char *into, unsigned *length)
{
    into[0] = 'x';
    *length = 64;
}
