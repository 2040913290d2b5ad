// world: holds
// property: memory
// native: ext
// why: one call, and its result is checked
struct device {
    int state;
};
const struct device *find_const(int id);
static const struct device none = {0};
int main(void)
{
    const struct device *d = find_const(1);
    return (d ? &none : d) == &none ? none.state : 0;
}
