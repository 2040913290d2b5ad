enum colour { RED, GREEN, BLUE };
enum colour pick(void) { return (enum colour)7; }
