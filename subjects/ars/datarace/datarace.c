/* Two threads pay into one account without a lock; a third, started when both are done, audits
 * the balance. */
#include <assert.h>
#include <pthread.h>

#define ACCOUNTS 10
#define THREADS 2
#define PAYMENT 50

static int balance[ACCOUNTS];

static void *payer(void *arg)
{
    (void)arg;
    balance[1] = balance[1] + PAYMENT;
    int printed = balance[1];
    (void)printed;
    return NULL;
}

static void *auditor(void *arg)
{
    (void)arg;
    assert(balance[1] == PAYMENT * THREADS);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS], check;

    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, payer, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_create(&check, NULL, auditor, NULL);
    pthread_join(check, NULL);
    return 0;
}
