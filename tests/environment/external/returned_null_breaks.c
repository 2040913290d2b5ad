// world: breaks
// property: memory
// native: ext
// why: NULL may be returned at the second call, after an object at the first
struct device {
    int state;
};
struct device *lookup(int id);
int main(void)
{
    if (!lookup(1))
        return 0;
    return lookup(1)->state;
}
