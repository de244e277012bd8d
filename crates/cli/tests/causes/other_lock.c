// Money comes in under one lock and goes out under another one.
// cause: money 14 21 22 | money 13 14 22
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t front = PTHREAD_MUTEX_INITIALIZER, back = PTHREAD_MUTEX_INITIALIZER;
static int money = 10;

static void *pay_in(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&front);
    int before = money;
    money = before + 5;
    pthread_mutex_unlock(&front);
    return 0;
}
static void pay_out(void)
{
    pthread_mutex_lock(&back);
    int before = money;
    money = before - 3;
    pthread_mutex_unlock(&back);
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, pay_in, 0);
    pay_out();
    pthread_join(thread, 0);
    assert(money == 12);
    return 0;
}
