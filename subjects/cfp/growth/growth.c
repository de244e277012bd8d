// Sixty small functions, and a command line that says which of them run side by side: for suites of any size.
//
//   growth [-rROUNDS] LIST ...    one thread for each list; `0,17,42` runs functions 0, 17 and 42 in this order
//   growth -gINPUTS,SEED          prints a suite of so many inputs, drawn with this seed
//
// Functions come in families of four around a cell of memory (cells.h). Two that touch the same cell race unless
// both hold its lock; nothing depends on what they count, so the program always ends well.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 8
#define MAX_FUNCTIONS 64

static void give_up(const char *why)
{
    fprintf(stderr, "growth: %s\n", why);
    exit(2);
}

#include "cells.h"
#include "suite.h"

struct list {
    int numbers[MAX_FUNCTIONS];
    int count;
};

static struct list lists[MAX_THREADS];
static int rounds = 16;

static void *run_list(void *of_thread)
{
    struct list *list = of_thread;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < list->count; i++)
            functions[list->numbers[i]]();
    return NULL;
}

static void parse_list(const char *text, struct list *list)
{
    while (*text != '\0') {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || number < 0 || number >= FUNCTIONS || list->count == MAX_FUNCTIONS)
            give_up("a list is made of numbers from 0 to 59, with commas between them");
        list->numbers[list->count++] = (int)number;
        text = *end == ',' ? end + 1 : end;
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int inputs;
        unsigned seed;
        if (sscanf(argv[i], "-g%d,%u", &inputs, &seed) == 2) {
            print_suite(inputs, seed);
            return 0;
        }
        if (strncmp(argv[i], "-r", 2) == 0)
            rounds = atoi(argv[i] + 2);
        else if (count < MAX_THREADS)
            parse_list(argv[i], &lists[count++]);
    }
    if (count == 0)
        give_up("say what to run: one list of function numbers for each thread");
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, run_list, &lists[i]) != 0)
            give_up("a thread could not be started");
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    print_cells();
    return 0;
}
