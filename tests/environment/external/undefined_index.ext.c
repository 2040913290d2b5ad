int selected = 4;
