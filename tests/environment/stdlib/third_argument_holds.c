// world: holds
// property: memory
// native: alone
// why: followed only where there is something
int main(int argc, char **argv, char **envp)
{
    return envp[0] ? envp[0][0] : 0;
}
