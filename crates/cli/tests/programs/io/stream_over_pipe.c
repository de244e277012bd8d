// expect: pass
// os-threads
// A pipe read line by line through a stream.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static int ends[2];
static void *reader(void *unused) {
    char line[32];
    FILE *file = fdopen(ends[0], "r");
    assert(fgets(line, sizeof line, file) && strcmp(line, "hello\n") == 0);
    assert(fgetc(file) == 'x' && getc(file) == '\n');
    assert(fgets(line, sizeof line, file) && strcmp(line, "bye\n") == 0);
    assert(!fgets(line, sizeof line, file));
    fclose(file);
    return unused;
}
int main(void) {
    pthread_t a;
    assert(pipe(ends) == 0);
    pthread_create(&a, 0, reader, 0);
    assert(write(ends[1], "hello\n", 6) == 6);
    assert(write(ends[1], "x\n", 2) == 2);
    assert(write(ends[1], "bye\n", 4) == 4);
    close(ends[1]);
    pthread_join(a, 0);
    return 0;
}
