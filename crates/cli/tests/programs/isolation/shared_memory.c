// expect: pass
// executions: 200
// Memory that processes share, and memory that has a name, is put back.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

static atomic_int *nameless, *in_file, *named;

static void *work(void *unused) {
    assert(atomic_fetch_add(nameless, 1) < 2 && atomic_fetch_add(in_file, 1) < 12 && atomic_fetch_add(named, 1) < 22);
    return unused;
}

static atomic_int *map(int fd, int value) {
    atomic_int *place = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    assert(place != MAP_FAILED);
    atomic_store(place, value);
    return place;
}

int main(void) {
    int file = memfd_create("file", 0);
    assert(ftruncate(file, 8192) == 0);
    shm_unlink("/threadbare-test-memory");
    int memory = shm_open("/threadbare-test-memory", O_CREAT | O_EXCL | O_RDWR, 0600);
    assert(memory >= 0 && ftruncate(memory, 8192) == 0);
    nameless = map(-1, 0), in_file = map(file, 10), named = map(memory, 20);
    pthread_t a, b;
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(*nameless == 2 && *in_file == 12 && *named == 22);
    assert(shm_unlink("/threadbare-test-memory") == 0);
    return 0;
}
