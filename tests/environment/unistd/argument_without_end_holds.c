// world: holds
// property: memory
// native: none (the C library and the kernel read there without a look by the sanitizer)
// why: each argument of execl is a string
#include <unistd.h>
int main(void)
{
    char word[2] = {'a', 0};
    return execl("/bin/true", "true", word, (char *)0);
}
