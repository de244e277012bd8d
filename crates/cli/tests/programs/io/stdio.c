// expect: pass
// os-threads
// Streams used by several threads, their locks, and files.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *file;

static void *work(void *name) {
    for (int i = 0; i < 3; i++) {
        printf("%s %d\n", (char *)name, i);
        flockfile(file);
        fputs(name, file);
        fputc('\n', file);
        funlockfile(file);
    }
    fflush(stdout);
    return 0;
}

int main(void) {
    pthread_t a, b;
    char line[16];
    int lines = 0;
    file = tmpfile();
    assert(file);
    pthread_create(&a, 0, work, "one");
    pthread_create(&b, 0, work, "two");
    pthread_join(a, 0);
    pthread_join(b, 0);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        assert(strcmp(line, "one\n") == 0 || strcmp(line, "two\n") == 0);
        lines++;
    }
    assert(lines == 6);
    return 0;
}
