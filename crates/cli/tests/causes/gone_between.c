// It is looked at twice, and gone the second time.
// cause: cur 11 12 17
#include <pthread.h>
#include <stdlib.h>
struct s { int v; };
static struct s *cur;
static struct s one = {1};
static void *user(void *p)
{
    int sum = 0;
    if (cur != NULL)
        sum += cur->v;
    return sum ? p : 0;
}
static void *clearer(void *p)
{
    cur = NULL;
    return 0;
}
int main(void)
{
    pthread_t a, b;
    cur = &one;
    pthread_create(&a, 0, user, 0);
    pthread_create(&b, 0, clearer, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
