#include "counter.h"

static int total;

void count(void) { total++; }

int counted(void) { return total; }
