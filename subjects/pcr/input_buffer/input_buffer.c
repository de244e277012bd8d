/* The input buffer of a web server's request (Tomcat's InputBuffer). When it has run empty, it
 * asks whether there is a request to read from and then reads from it; the request can be taken
 * away in between, since nothing is locked. */
#include <pthread.h>
#include <stddef.h>

#define END (-1)

struct request {
    const char *body;
};

static const struct request incoming = {"body"};
static const struct request *request = &incoming;

static struct {
    int position, limit;
    char bytes[4];
} buffer;

static int receive(const struct request *from, char *into)
{
    const char *body = from->body;
    int count = 0;
    while (body[count] != 0) {
        into[count] = body[count];
        count++;
    }
    return count;
}

static int fill(void)
{
    if (request == NULL)
        return END;
    buffer.limit = receive(request, buffer.bytes);
    buffer.position = 0;
    return buffer.limit;
}

static int read_byte(void)
{
    if (buffer.position >= buffer.limit && fill() == END)
        return END;
    int at = buffer.position;
    buffer.position = at + 1;
    return buffer.bytes[at];
}

static void set_request(const struct request *r)
{
    request = r;
}

static void *first_suffix(void *arg)
{
    (void)arg;
    set_request(NULL);
    read_byte();
    return NULL;
}

static void *second_suffix(void *arg)
{
    (void)arg;
    read_byte();
    set_request(&incoming);
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
