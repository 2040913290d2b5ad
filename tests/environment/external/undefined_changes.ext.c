int level = 2;
const int fixed_level = 2;
void step(void) { level = 20; }
