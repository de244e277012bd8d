// Neighbouring bytes and neighbouring parts of a buffer are not the same memory.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

static char buffer[48];
static struct {
    char a, b, c;
} bytes;
static char *const own[3] = {&bytes.a, &bytes.b, &bytes.c};

static void *part(void *arg) {
    int i = (int)(intptr_t)arg;
    char mine[16];
    memset(mine, i + 1, sizeof mine);
    memcpy(buffer + 16 * i, mine, sizeof mine);
    for (int n = 0; n < 3; n++) *own[i] = *own[i] + 1;
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, part, (void *)(intptr_t)i);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
    for (int i = 0; i < 48; i++) assert(buffer[i] == i / 16 + 1);
    assert(bytes.a + bytes.b + bytes.c == 9);
    return 0;
}
