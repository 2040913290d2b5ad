void next(int **cursor) { **cursor = 9; }
