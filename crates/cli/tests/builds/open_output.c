// Opens its output before the first thread starts, as compressors do; the length differs from one
// interleaving to the next, and each execution must find the file as it was when it was opened.
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int first;

static void *arrive(void *number) {
    if (first == 0) {
        first = *(int *)number;
    }
    return NULL;
}

int main(void) {
    int output = open("output", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int numbers[] = {1, 2};
    pthread_t one, other;
    pthread_create(&one, NULL, arrive, &numbers[0]);
    pthread_create(&other, NULL, arrive, &numbers[1]);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    const char *text = first == 1 ? "the first thread" : "second";
    assert(write(output, text, strlen(text)) == (ssize_t)strlen(text));
    assert(lseek(output, 0, SEEK_END) == (off_t)strlen(text));
}
