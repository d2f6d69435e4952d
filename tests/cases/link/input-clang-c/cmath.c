float twice(float x) { return x + x; }
int table[4] = {1, 2, 3, 4};
static int hidden = 5;
int get(int i) { return table[i & 3] + hidden++; }
