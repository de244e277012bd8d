// The queue between main, which fills it, and the threads that empty it. Its lock and conditions are its users' to use.

#define QUEUE_CAPACITY 4

struct queue {
    struct block *items[QUEUE_CAPACITY];
    int head;
    int length;
    int empty;
    int full;
    pthread_mutex_t *mutex;
    pthread_cond_t *not_empty;
    pthread_cond_t *not_full;
};

static struct queue *new_queue(void)
{
    struct queue *queue = allocate(sizeof *queue);
    memset(queue, 0, sizeof *queue);
    queue->empty = 1;
    queue->mutex = allocate(sizeof *queue->mutex);
    queue->not_empty = allocate(sizeof *queue->not_empty);
    queue->not_full = allocate(sizeof *queue->not_full);
    pthread_mutex_init(queue->mutex, NULL);
    pthread_cond_init(queue->not_empty, NULL);
    pthread_cond_init(queue->not_full, NULL);
    return queue;
}

static void delete_queue(struct queue *queue)
{
    pthread_mutex_destroy(queue->mutex);
    pthread_cond_destroy(queue->not_empty);
    pthread_cond_destroy(queue->not_full);
    free(queue->mutex);
    free(queue->not_empty);
    free(queue->not_full);
    free(queue);
}

static void note_length(struct queue *queue)
{
    queue->empty = queue->length == 0;
    queue->full = queue->length == QUEUE_CAPACITY;
}

static void add(struct queue *queue, struct block *block)
{
    assert(!queue->full && "there is room in the queue");
    queue->items[(queue->head + queue->length) % QUEUE_CAPACITY] = block;
    queue->length++;
    note_length(queue);
}

static struct block *take(struct queue *queue)
{
    assert(!queue->empty && "there is a block in the queue");
    struct block *block = queue->items[queue->head];
    queue->head = (queue->head + 1) % QUEUE_CAPACITY;
    queue->length--;
    note_length(queue);
    return block;
}
