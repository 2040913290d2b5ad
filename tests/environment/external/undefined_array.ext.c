const unsigned char order[4] = {0, 1, 2, 99};
