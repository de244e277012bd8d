/* A serializer with an exchangeable strategy (XStream 1.4.1). A thread that sets the strategy and
 * then serializes relies on its setting, but nothing keeps another thread from taking the strategy
 * away before it is used. */
#include <pthread.h>
#include <stddef.h>

struct strategy {
    char open, close;
};

static const struct strategy by_reference = {'<', '>'};

static pthread_mutex_t aliases_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *aliases[4];
static int alias_count;
static const struct strategy *strategy = &by_reference;

static void set_strategy(const struct strategy *s)
{
    strategy = s;
}

static void alias(const char *name)
{
    pthread_mutex_lock(&aliases_lock);
    aliases[alias_count] = name;
    alias_count = alias_count + 1;
    pthread_mutex_unlock(&aliases_lock);
}

static const char *name_of(int kind)
{
    const char *name = "object";
    pthread_mutex_lock(&aliases_lock);
    if (kind < alias_count)
        name = aliases[kind];
    pthread_mutex_unlock(&aliases_lock);
    return name;
}

static int marshal(const struct strategy *s, int kind, char *into)
{
    int length = 0;
    into[length++] = s->open;
    const char *name = name_of(kind);
    for (int i = 0; name[i] != 0; i++)
        into[length++] = name[i];
    into[length++] = s->close;
    return length;
}

static int to_xml(int kind)
{
    char text[32];
    return marshal(strategy, kind, text);
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_strategy(&by_reference);
    to_xml(0);
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    to_xml(0);
    set_strategy(NULL);
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    alias("order");
    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
