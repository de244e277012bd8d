/* Threads look for a free disk block for their inode, each block behind its own lock. There is
 * one inode more than there are blocks, so in every schedule some thread finds none. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define BLOCKS 26
#define INODES 32
#define THREADS 27

static pthread_mutex_t inode_lock[INODES];
static pthread_mutex_t block_lock[BLOCKS];
static int inode[INODES];
static int busy[BLOCKS];

static int allocate(int block)
{
    pthread_mutex_lock(&block_lock[block]);
    int free = !busy[block];
    if (free)
        busy[block] = 1;
    pthread_mutex_unlock(&block_lock[block]);
    return free;
}

static void *creator(void *arg)
{
    int i = (int)(intptr_t)arg % INODES;
    pthread_mutex_lock(&inode_lock[i]);
    if (inode[i] == 0) {
        int block = (i * 2) % BLOCKS;
        int probes = 1;
        while (!allocate(block)) {
            assert(probes < BLOCKS && "no free block left");
            block = (block + 1) % BLOCKS;
            probes++;
        }
        inode[i] = block + 1;
    }
    pthread_mutex_unlock(&inode_lock[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (int i = 0; i < INODES; i++)
        pthread_mutex_init(&inode_lock[i], NULL);
    for (int i = 0; i < BLOCKS; i++)
        pthread_mutex_init(&block_lock[i], NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, creator, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
