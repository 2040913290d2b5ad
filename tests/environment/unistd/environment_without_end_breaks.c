// world: breaks
// property: memory
// native: none (the C library and the kernel read there without a look by the sanitizer)
// why: the list that execve gives to the new program ends with NULL
#include <unistd.h>
int main(void)
{
    char *argv[] = {"true", 0};
    char *envp[] = {"A=1"};
    return execve("/bin/true", argv, envp);
}
