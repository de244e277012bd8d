// Results of detached threads come with a semaphore, one of another thread through a pipe.
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static sem_t done;
static int parts[2], ends[2], sum;

static void *work(void *arg) {
    *(int *)arg = 5;
    sem_post(&done);
    return 0;
}

static void *announce(void *unused) {
    sum = 9;
    char byte = 'x';
    assert(write(ends[1], &byte, 1) == 1);
    return unused;
}

int main(void) {
    sem_init(&done, 0, 0);
    assert(pipe(ends) == 0);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, work, &parts[i]);
        pthread_detach(thread);
    }
    pthread_t thread;
    pthread_create(&thread, 0, announce, 0);
    sem_wait(&done);
    sem_wait(&done);
    assert(parts[0] + parts[1] == 10);
    char byte;
    assert(read(ends[0], &byte, 1) == 1);
    assert(sum == 9);
    pthread_join(thread, 0);
    return 0;
}
