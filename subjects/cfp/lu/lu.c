// Factors a dense matrix into triangles, block by block, in the shape of the LU kernel of SPLASH-2.
//
//   lu [-nN] [-pP] [-bB] [-i] [-s] [-t] [-o] [-kSEED]
//
//   -nN    rows and columns (64)               -s   times of each thread, and who was slowest
//   -pP    threads, main included (4)          -t   check that the triangles make up the matrix
//   -bB    rows and columns of a block (8)     -o   print the triangles
//   -i     a column of the inverse, too        -k   seed of the matrix (1)
//
// Blocks are owned by threads in turn, and only the owner writes a block. In each step the block on the
// diagonal is factored, then the blocks below and to the right of it are divided by it, and then all
// that are left are reduced; barriers order the three.
//
// The bug: main reports the end time before it waits for the other threads. The last thread takes that time
// after the last barrier, and nothing makes main wait for it. The counters in `progress` race as well; they
// may be off by a few and nobody minds.

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_THREADS 16

#include "options.h"
#include "matrix.h"
#include "factor.h"
#include "report.h"

/// One thread's share of the work. Main is thread 0 and does a share, too.
static void work(int self)
{
    long began = now();
    touch_blocks(self);
    wait_for_all();
    if (self == 0)
        times.init_done = now();
    factor(self);
    wait_for_all();
    if (options.statistics)
        note_load(self, now() - began);
    if (self == options.threads - 1)
        times.end = now();
}

static void *start(void *number)
{
    work(*(int *)number);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int numbers[MAX_THREADS];

    parse(argc, argv);
    make_blocks();
    fill_blocks();
    if (pthread_barrier_init(&everyone, NULL, options.threads) != 0)
        give_up("the barrier could not be made");
    times.start = now();
    for (int i = 1; i < options.threads; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, start, &numbers[i]) != 0)
            give_up("a thread could not be started");
    }
    work(0);

    unsigned long sum = checksum();
    report_times(sum);
    for (int i = 1; i < options.threads; i++)
        pthread_join(threads[i], NULL);

    if (options.statistics)
        print_statistics();
    if (options.print)
        print_triangles();
    if (options.inverse)
        print_inverse_column();
    int wrong = options.check ? check_product() : 0;
    pthread_barrier_destroy(&everyone);
    free_blocks();
    return wrong ? 1 : 0;
}
