/* A work-stealing queue: the owner pushes and pops at the tail without a lock unless the queue
 * looks empty, a thief steals at the head under a lock. The thief reads the tail before it claims
 * its item, so owner and thief can both take the last one.
 *
 * usage: work_steal_queue [items] */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define MAX_ITEMS 64
#define NONE (-1)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int tasks[MAX_ITEMS];
static int head, tail;
static int taken[MAX_ITEMS];
static int items = 4;

static void push(int task)
{
    int at = tail;
    tasks[at] = task;
    tail = at + 1;
}

static int pop(void)
{
    int last = tail - 1;
    int task = NONE;
    tail = last;
    if (head <= last)
        return tasks[last];
    /* The thief may be at work on this very item: settle it under the lock. */
    pthread_mutex_lock(&lock);
    if (head <= last)
        task = tasks[last];
    else
        tail = head;
    pthread_mutex_unlock(&lock);
    return task;
}

static int steal(void)
{
    int task = NONE;
    pthread_mutex_lock(&lock);
    int first = head;
    /* Claiming head first and comparing with tail afterwards would be right. */
    if (first < tail) {
        task = tasks[first];
        head = first + 1;
    }
    pthread_mutex_unlock(&lock);
    return task;
}

static void run(int task)
{
    if (task == NONE)
        return;
    assert(taken[task] == 0 && "a task was run twice");
    taken[task] = 1;
}

static void *thief(void *arg)
{
    (void)arg;
    for (int i = 0; i < items / 2; i++)
        run(steal());
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;

    if (argc > 1)
        items = atoi(argv[1]);
    if (items < 2 || items > MAX_ITEMS)
        return 2;
    pthread_create(&thread, NULL, thief, NULL);
    for (int i = 0; i < items; i += 2) {
        push(i);
        if (i + 1 < items)
            push(i + 1);
        run(pop());
    }
    for (int i = 0; i < items / 2; i++)
        run(pop());
    pthread_join(thread, NULL);
    return 0;
}
