/* A class that holds appenders (log4j's AppenderAttachableImpl) keeps them in a list that is there
 * only while it is needed. The list locks itself for each call, but the field that refers to it is
 * read anew at every step without a lock: when the other thread removes all appenders in between,
 * the next step follows NULL, or asks for an element that is gone. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define CAPACITY 4

struct list {
    pthread_mutex_t lock;
    int size;
    int elements[CAPACITY];
};

static struct list *appenders;

static struct list *new_list(void)
{
    struct list *list = calloc(1, sizeof *list);
    pthread_mutex_init(&list->lock, NULL);
    return list;
}

static int list_size(struct list *list)
{
    pthread_mutex_lock(&list->lock);
    int size = list->size;
    pthread_mutex_unlock(&list->lock);
    return size;
}

static int list_element(struct list *list, int index)
{
    pthread_mutex_lock(&list->lock);
    assert(index < list->size && "no such element");
    int element = list->elements[index];
    pthread_mutex_unlock(&list->lock);
    return element;
}

static int list_contains(struct list *list, int element)
{
    int found = 0;
    pthread_mutex_lock(&list->lock);
    int size = list->size;
    for (int i = 0; i < size && !found; i++)
        found = list->elements[i] == element;
    pthread_mutex_unlock(&list->lock);
    return found;
}

static void list_append(struct list *list, int element)
{
    pthread_mutex_lock(&list->lock);
    int size = list->size;
    list->elements[size] = element;
    list->size = size + 1;
    pthread_mutex_unlock(&list->lock);
}

static void list_clear(struct list *list)
{
    pthread_mutex_lock(&list->lock);
    list->size = 0;
    pthread_mutex_unlock(&list->lock);
}

static void add_appender(int appender)
{
    if (appenders == NULL)
        appenders = new_list();
    if (!list_contains(appenders, appender))
        list_append(appenders, appender);
}

static void remove_all_appenders(void)
{
    if (appenders != NULL) {
        int size = list_size(appenders);
        for (int i = 0; i < size; i++)
            list_element(appenders, i); /* where the original closes the appender */
        list_clear(appenders);
        appenders = NULL; /* not freed: the original is collected when nobody refers to it */
    }
}

static void *first_suffix(void *arg)
{
    (void)arg;
    add_appender(1);
    remove_all_appenders();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    remove_all_appenders();
    add_appender(2);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    add_appender(3);
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
