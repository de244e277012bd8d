#include <pthread.h>
#include <string.h>

static char message[32];

static void *say(void *word) {
    memcpy(message, word, strlen(word) + 1);
    return NULL;
}

// Two threads that write the same text.
int plugin(void) {
    pthread_t other;
    pthread_create(&other, NULL, say, "hello");
    say("hello");
    pthread_join(other, NULL);
    return strcmp(message, "hello") == 0;
}
