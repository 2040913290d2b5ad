struct device {
    int state;
};
static struct device only;
struct device *lookup(int id)
{
    static int calls;
    return calls++ ? 0 : &only;
}
const struct device *find_const(int id) { return 0; }
