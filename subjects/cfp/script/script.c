// A script interpreter that runs many requests on several threads, in the shape of an early Mozilla-JS.
//
//   script [-pN] NAME ...     runs the requests of these names from requests.h, dealt out to N threads (4)
//
// Each request is a small script with a context of its own: memory, global object, output. What contexts share is
// the runtime: the table of atoms (one copy of each name), the state of the collector, and tallies. The first
// context makes the atom table and the last one frees it.
//
// The bugs:
// * The decision to make or free the atom table is made with the lock held, but the table is made and freed
//   without it. A context that comes second may find no table yet, and a table that was just made may be
//   freed by the thread that ended the last context before (`init_atom_state` against `free_atom_state`).
// The counters in `runtime.collector`, the hint to the last atom and the tallies that are read without a lock race as
// well and do no harm.

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 16

static void give_up(const char *why, const char *what)
{
    fprintf(stderr, "script: %s%s\n", why, what);
    exit(2);
}

#include "runtime.h"
#include "memory.h"
#include "atoms.h"
#include "values.h"
#include "objects.h"
#include "lexer.h"
#include "tree.h"
#include "expressions.h"
#include "statements.h"
#include "operators.h"
#include "scopes.h"
#include "evaluate.h"
#include "execute.h"
#include "natives/numbers.h"
#include "natives/strings.h"
#include "natives/arrays.h"
#include "natives/shared.h"
#include "context.h"
#include "requests.h"

static struct {
    const struct request *requests[64];
    int count;
    int threads;
    int wrong; // written with the runtime's lock held
} plan = { { NULL }, 0, 4, 0 };

static void *work(void *number)
{
    for (int i = *(int *)number; i < plan.count; i += plan.threads)
        if (!run_request(plan.requests[i])) {
            pthread_mutex_lock(&runtime.mutex);
            plan.wrong++;
            pthread_mutex_unlock(&runtime.mutex);
        }
    return NULL;
}

static void parse_arguments(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "-p", 2) == 0)
            plan.threads = atoi(argv[i] + 2);
        else if (plan.count < 64)
            plan.requests[plan.count++] = find_request(argv[i]);
    }
    if (plan.threads < 1 || plan.threads > MAX_THREADS)
        give_up("-p takes a number of threads from 1 to 16", "");
    if (plan.count == 0)
        give_up("name the requests to run; requests.h lists them", "");
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    int numbers[MAX_THREADS];
    parse_arguments(argc, argv);
    for (int i = 0; i < plan.threads; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
            give_up("a thread could not be started", "");
    }
    for (int i = 0; i < plan.threads; i++)
        pthread_join(threads[i], NULL);
    print_collector();
    printf("%d requests, %d wrong\n", plan.count, plan.wrong);
    return plan.wrong ? 1 : 0;
}
