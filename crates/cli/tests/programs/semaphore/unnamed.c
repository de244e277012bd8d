// expect: pass
// options: --timers loose
// reaches: empty taken timeout
// os-threads
// Wait, try and timed wait, with both outcomes.
#define _GNU_SOURCE
#include "../reach.h"
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t items, room;

static void *producer(void *unused) {
    for (int i = 0; i < 3; i++) {
        assert(sem_wait(&room) == 0);
        assert(sem_post(&items) == 0);
    }
    return unused;
}

int main(int argc, char **argv) {
    GOAL(argc, argv);
    pthread_t t;
    int value;
    assert(sem_init(&items, 0, 0) == 0 && sem_init(&room, 0, 2) == 0);
    pthread_create(&t, 0, producer, 0);
    int got = 0;
    if (sem_trywait(&items) == 0) {
        reached("taken");
        got++;
        sem_post(&room);
    } else {
        assert(errno == EAGAIN);
        reached("empty");
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 10;
    if (sem_timedwait(&items, &until) == 0) {
        got++;
        sem_post(&room);
    } else {
        assert(errno == ETIMEDOUT);
        reached("timeout");
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += 10;
    if (sem_clockwait(&items, CLOCK_MONOTONIC, &until) == 0) {
        got++;
        sem_post(&room);
    }
    while (got < 3) {
        assert(sem_wait(&items) == 0);
        got++;
        sem_post(&room);
    }
    pthread_join(t, 0);
    assert(sem_getvalue(&items, &value) == 0 && value == 0);
    assert(sem_getvalue(&room, &value) == 0 && value == 2);
    sem_destroy(&items);
    sem_destroy(&room);
    return 0;
}
