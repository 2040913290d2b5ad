// world: holds
// property: memory
// native: alone
// why: counted
int main(int argc, char **argv)
{
    return argc > 1 ? argv[1][0] : 0;
}
