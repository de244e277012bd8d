/* Private work on the heap and the stack, after a second thread has come and gone: nothing of it
 * is shared. Prints the nanoseconds an inner step took in real time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 4096 };

static void *nothing(void *unused)
{
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t other;
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    unsigned *cells = malloc(CELLS * sizeof *cells);
    unsigned sum = 0;

    pthread_create(&other, NULL, nothing, NULL);
    pthread_join(other, NULL);
    for (int i = 0; i < CELLS; i++)
        cells[i] = i;
    for (long r = 0; r < rounds; r++)
        for (int i = 1; i < CELLS; i++) {
            cells[i] = cells[i] * 31 + cells[i - 1];
            sum += cells[i];
        }
    printf("%u\n", sum);
    free(cells);
    return 0;
}
