// Double-checked locking with a plain pointer.
// finds: race instance 12 15
// finds: race heap@dcl_wrong.c:15 16 22
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
struct config { int value; };
static struct config *instance;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct config *get(void)
{
    if (!instance) {
        pthread_mutex_lock(&m);
        if (!instance) {
            instance = malloc(sizeof *instance);
            instance->value = 42;
        }
        pthread_mutex_unlock(&m);
    }
    return instance;
}
static void *user(void *p) { (void)p; assert(get()->value == 42); return 0; }
int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, user, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
