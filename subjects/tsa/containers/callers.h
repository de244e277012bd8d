/* Threads that each make the calls of a script on two shared containers. A call that finds the
 * container changed under its cursor ends its thread, as an exception would in the original; the
 * others go on, and main fails at the end. Include a container with `perform` first. */
#ifndef CALLERS_H
#define CALLERS_H

#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define MOST_CALLS 8
#define MOST_THREADS 32

struct script {
    struct guarded *own, *other;
    int calls;
    enum operation operations[MOST_CALLS];
};

/* A script of one call on OWN, which may look at OTHER. */
#define ONE_CALL(own, other, operation) {&(own), &(other), 1, {operation}}

static inline void *caller(void *arg)
{
    const struct script *script = arg;
    for (int i = 0; i < script->calls; i++) {
        enum operation operation = script->operations[i];
        int value = (int)operation * 100 % DOMAIN;
        if (perform(operation, script->own, script->other, value) == CHANGED)
            return (void *)(intptr_t)1;
    }
    return NULL;
}

static inline void run(const struct script *scripts, int count)
{
    pthread_t threads[MOST_THREADS];
    int failed = 0;

    assert(count <= MOST_THREADS);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, caller, (void *)&scripts[i]);
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        failed += result != NULL;
    }
    assert(failed == 0 && "a container was changed while it was iterated");
}

#endif
