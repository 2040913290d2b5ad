void start_transfer(unsigned long where, unsigned long count) { ((char *)where)[count - 1] = 1; }
void tell_number(unsigned long number) { (void)number; }
