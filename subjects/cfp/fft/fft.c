// A six-step fast Fourier transform with threads, in the shape of the FFT kernel of SPLASH-2.
//
//   fft [-mM] [-pP] [-lL] [-i] [-s] [-t] [-o] [-kSEED]
//
//   -mM    2^M points, M even (12)             -s   times of each thread, and who was slowest
//   -pP    threads, main included (4)          -t   check the result against directly computed points
//   -lL    2^L bytes in a cache line (4)       -o   print the points
//   -i     transform back instead of forth     -k   seed of the signal (1)
//
// The points are a square matrix of complex numbers. Roots of unity are computed where they are needed, so
// that threads share nothing but the matrices, a few counters and the times.
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
#include "transform.h"
#include "report.h"

/// One thread's share of the work. Main is thread 0 and does a share, too.
static void work(int self)
{
    long began = now();
    int first = first_row(self);
    int end = first_row(self + 1);
    touch_rows(&points, first, end);
    touch_rows(&turned, first, end);
    wait_for_all();
    if (self == 0)
        times.init_done = now();
    transform(first, end);
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
    make_matrices();
    fill_signal();
    if (pthread_barrier_init(&everyone, NULL, options.threads) != 0)
        give_up("the barrier could not be made");
    times.start = now();
    for (int i = 1; i < options.threads; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, start, &numbers[i]) != 0)
            give_up("a thread could not be started");
    }
    work(0);

    unsigned long sum = checksum(&points);
    report_times(sum);
    for (int i = 1; i < options.threads; i++)
        pthread_join(threads[i], NULL);

    if (options.statistics)
        print_statistics();
    if (options.print)
        print_points();
    int wrong = options.check ? check_points() : 0;
    pthread_barrier_destroy(&everyone);
    free_matrices();
    return wrong ? 1 : 0;
}
