/* One thread sets two fields and checks the first; the other sets both fields in between. */
#include <assert.h>
#include <pthread.h>

static struct {
    int n, m;
} fields;

static void *checker(void *arg)
{
    (void)arg;
    int before = fields.n;
    (void)before;
    fields.n = 12;
    fields.m = 12;
    assert(fields.n == 12);
    int after = fields.m;
    (void)after;
    return NULL;
}

static void *intruder(void *arg)
{
    (void)arg;
    fields.n = 13;
    fields.m = 1;
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, checker, NULL);
    pthread_create(&b, NULL, intruder, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
