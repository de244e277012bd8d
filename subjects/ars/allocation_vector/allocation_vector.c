/* Two threads allocate blocks of a vector. Looking for a free block and marking it are each done
 * under the lock, but in two critical sections, so both threads can mark the same block.
 *
 * usage: allocation_vector [size] [blocks per thread] [gap between the threads' starts] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_SIZE 1024
#define THREADS 2

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char cells[MAX_SIZE];
static int size = 100;
static int blocks = 5;
static int gap;

static int get_free(int start)
{
    int found = -1;
    pthread_mutex_lock(&lock);
    for (int probe = 0; probe < size; probe++) {
        int i = (start + probe) % size;
        if (cells[i] == 'F') {
            found = i;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

static void mark(int i)
{
    pthread_mutex_lock(&lock);
    assert(cells[i] == 'F' && "allocating an allocated block");
    cells[i] = 'A';
    pthread_mutex_unlock(&lock);
}

static void release(int i)
{
    pthread_mutex_lock(&lock);
    assert(cells[i] == 'A' && "freeing a free block");
    cells[i] = 'F';
    pthread_mutex_unlock(&lock);
}

static void *user(void *arg)
{
    int start = (int)(intptr_t)arg;
    int mine[MAX_SIZE];
    int used = 0;
    for (int n = 0; n < blocks; n++) {
        int i = get_free(start);
        if (i != -1) {
            mark(i);
            mine[used++] = i;
        }
    }
    for (int n = 0; n < used; n++)
        release(mine[n]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];

    if (argc > 1)
        size = atoi(argv[1]);
    if (argc > 2)
        blocks = atoi(argv[2]);
    if (argc > 3)
        gap = atoi(argv[3]);
    if (size < 1 || size > MAX_SIZE || blocks < 1 || blocks > size || gap < 0)
        return 2;
    for (int i = 0; i < size; i++)
        cells[i] = 'F';
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, user, (void *)(intptr_t)(i * gap));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
