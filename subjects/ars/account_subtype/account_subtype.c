/* Twenty business accounts and one personal account in a ring, one thread each. Only the personal
 * account's transfer forgets to lock the destination. The ring of nested locks is cut there, so
 * money gets lost but no circle of waiting threads can close. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#define BUSINESS 20
#define ACCOUNTS (BUSINESS + 1)

struct account {
    pthread_mutex_t lock;
    int amount;
};

static struct account accounts[ACCOUNTS];

static void add(int i, int money)
{
    pthread_mutex_lock(&accounts[i].lock);
    accounts[i].amount = accounts[i].amount + money;
    pthread_mutex_unlock(&accounts[i].lock);
}

static void transfer(int from, int to, int money)
{
    pthread_mutex_lock(&accounts[from].lock);
    accounts[from].amount = accounts[from].amount - money;
    if (from == BUSINESS)
        accounts[to].amount = accounts[to].amount + money;
    else
        add(to, money);
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *customer(void *arg)
{
    int i = (int)(intptr_t)arg;
    int next = (i + 1) % ACCOUNTS;
    add(i, 300);
    transfer(i, next, 10);
    add(i, 10);
    add(i, -20);
    add(i, 10);
    transfer(i, next, 10);
    add(i, -100);
    return NULL;
}

int main(void)
{
    pthread_t threads[ACCOUNTS];

    for (int i = 0; i < ACCOUNTS; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].amount = 100;
    }
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_create(&threads[i], NULL, customer, (void *)(intptr_t)i);
    for (int i = 0; i < ACCOUNTS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < ACCOUNTS; i++)
        assert(accounts[i].amount == 300);
    return 0;
}
