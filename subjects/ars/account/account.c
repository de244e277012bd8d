/* Ten accounts in a ring, one thread each. A transfer locks the source account and then the
 * destination, except that account 3 forgets the destination's lock. Two bugs follow: updates of
 * the account after it get lost, and the nested locks of the others can close a circle.
 *
 * usage: account [accounts] [bad account] */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_ACCOUNTS 64

struct account {
    pthread_mutex_t lock;
    int amount;
};

static struct account accounts[MAX_ACCOUNTS];
static int count = 10;
static int bad = 3;

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
    if (from == bad)
        accounts[to].amount = accounts[to].amount + money;
    else
        add(to, money);
    pthread_mutex_unlock(&accounts[from].lock);
}

static void *customer(void *arg)
{
    int i = (int)(intptr_t)arg;
    add(i, 300);
    transfer(i, (i + 1) % count, 10);
    add(i, 10);
    transfer(i, (i + 2) % count, 10);
    add(i, -20);
    add(i, 10);
    transfer(i, (i + 1) % count, 10);
    add(i, -100);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[MAX_ACCOUNTS];

    if (argc > 1)
        count = atoi(argv[1]);
    if (argc > 2)
        bad = atoi(argv[2]);
    /* With two accounts, "two further on" would be the account itself. */
    if (count < 3 || count > MAX_ACCOUNTS)
        return 2;
    for (int i = 0; i < count; i++) {
        pthread_mutex_init(&accounts[i].lock, NULL);
        accounts[i].amount = 100;
    }
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, customer, (void *)(intptr_t)i);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        assert(accounts[i].amount == 300);
    return 0;
}
