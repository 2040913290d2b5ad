// world: breaks
// property: memory
// native: alone
// why: there may be no argument
int main(int argc, char **argv)
{
    return argv[1][0];
}
