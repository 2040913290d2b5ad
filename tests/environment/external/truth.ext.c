int is_set(int bit) { return 1 << bit; }
_Bool is_set_bool(int bit) { return bit; }
