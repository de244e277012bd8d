/* A web server's request object (Tomcat's Request), which is recycled after use: its context and
 * its parameters are cleared without a lock. Both are used after a check whether they are there,
 * and can be cleared in between. */
#include <pthread.h>
#include <stddef.h>

struct context {
    const char *path;
};

static const struct context application = {"/shop"};

static struct {
    const struct context *context;
    const char *query;
    const char *parameters;
} request = {&application, "item=7", NULL};

static char first_letter(const char *text)
{
    return text[0];
}

static const char *context_path(void)
{
    if (request.context == NULL)
        return "";
    return request.context->path;
}

static char parameter(void)
{
    if (request.query == NULL)
        return 0;
    if (request.parameters == NULL)
        request.parameters = request.query;
    return first_letter(request.parameters);
}

static void recycle(void)
{
    request.context = NULL;
    request.query = NULL;
    request.parameters = NULL;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    recycle();
    context_path();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    context_path();
    parameter();
    recycle();
    return NULL;
}

int main(void)
{
    pthread_t a, b;

    pthread_create(&a, NULL, first_suffix, NULL);
    pthread_create(&b, NULL, second_suffix, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
