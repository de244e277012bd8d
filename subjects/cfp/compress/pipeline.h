// The threads: main produces, compressors or decompressors work, the writer puts blocks in order.

static struct queue *fifo;
static int all_done;    // main has queued all there is
static int blocks_read; // by main
static int written;     // by the writer
static unsigned written_check;

static struct {
    struct block *source;
    struct block *block;
} outputs[MAX_BLOCKS];
static pthread_mutex_t outputs_mutex = PTHREAD_MUTEX_INITIALIZER;

static struct {
    long bytes_in;
    long bytes_out;
    int longest;
    int helped;
} statistics;

/// Figures for the summary. They are not worth a lock.
static void count_block(const struct block *from, const struct block *to)
{
    statistics.bytes_in += from->length;
    statistics.bytes_out += to->length;
    if (to->length > statistics.longest)
        statistics.longest = to->length;
}

static void store(struct block *source, struct block *result)
{
    pthread_mutex_lock(&outputs_mutex);
    outputs[result->number].source = source;
    outputs[result->number].block = result;
    pthread_mutex_unlock(&outputs_mutex);
}

static void *compressor(void *unused)
{
    for (;;) {
        pthread_mutex_lock(fifo->mutex);
        while (fifo->empty) {
            if (all_done) {
                pthread_mutex_unlock(fifo->mutex);
                return unused;
            }
            pthread_cond_wait(fifo->not_empty, fifo->mutex);
        }
        struct block *block = take(fifo);
        pthread_cond_signal(fifo->not_full);
        pthread_mutex_unlock(fifo->mutex);
        struct block *compressed = compress_block(block);
        count_block(block, compressed);
        store(block, compressed);
    }
}

static void *decompressor(void *unused)
{
    for (;;) {
        pthread_mutex_lock(fifo->mutex);
        while (fifo->empty) {
            if (all_done) {
                pthread_mutex_unlock(fifo->mutex);
                return unused;
            }
            pthread_cond_wait(fifo->not_empty, fifo->mutex);
        }
        struct block *block = take(fifo);
        pthread_cond_signal(fifo->not_full);
        pthread_mutex_unlock(fifo->mutex);
        struct block *restored = decompress_block(block);
        if (!is_whole(block, restored))
            give_up("a block does not have the checksum it was compressed with");
        count_block(block, restored);
        store(block, restored);
    }
}

/// One block of the work that is left, done by the writer.
static int help(void)
{
    if (fifo->empty)
        return 0;
    pthread_mutex_lock(fifo->mutex);
    struct block *block = take(fifo);
    pthread_cond_signal(fifo->not_full);
    pthread_mutex_unlock(fifo->mutex);
    struct block *compressed = compress_block(block);
    count_block(block, compressed);
    store(block, compressed);
    statistics.helped++;
    return 1;
}

/// Adds a block to the check of all that is written, and writes it down if that is asked for.
static void write_block(const struct block *block)
{
    int number = block->number, length = block->length;
    if (options.verbose)
        fprintf(stderr, "block %d: %d bytes\n", number, length);
    for (int i = 0; i < length; i++) {
        unsigned char byte = block->bytes[i];
        written_check = written_check * 31 + byte;
        if (options.to_stdout)
            printf("%02x%s", byte, i % 32 == 31 || i + 1 == length ? "\n" : "");
    }
}

/// Looks for the next block in the table, and sleeps or helps while it is not there.
static void *write_in_order(void *unused)
{
    while (written < blocks_read || !all_done) {
        if (outputs[written].block == NULL) {
            if (!options.eager || !help())
                usleep(500);
            continue;
        }
        write_block(outputs[written].block);
        written++;
    }
    return unused;
}

static void queue_block(struct block *block)
{
    pthread_mutex_lock(fifo->mutex);
    while (fifo->full)
        pthread_cond_wait(fifo->not_full, fifo->mutex);
    add(fifo, block);
    pthread_cond_signal(fifo->not_empty);
    pthread_mutex_unlock(fifo->mutex);
    blocks_read++;
}

/// The next compressed block of a stream that begins at `*at`.
static struct block *next_compressed(const struct text *stream, int *at)
{
    int length = get_number(stream->bytes + *at);
    struct block *block = new_block(blocks_read, length);
    memcpy(block->bytes, stream->bytes + *at + 4, length);
    block->length = length;
    *at += 4 + length;
    return block;
}

/// Queues the whole text, block by block. This is main's part.
static void produce(const struct text *text, int backwards)
{
    if (backwards)
        for (int at = 0; at < text->length;)
            queue_block(next_compressed(text, &at));
    else
        for (int number = 0; number * options.block_bytes < text->length; number++)
            queue_block(cut_block(text, number));
    pthread_mutex_lock(fifo->mutex);
    all_done = 1;
    pthread_cond_broadcast(fifo->not_empty);
    pthread_mutex_unlock(fifo->mutex);
}

static void start_threads(int backwards, pthread_t *writer)
{
    fifo = new_queue();
    if (pthread_create(writer, NULL, write_in_order, NULL) != 0)
        give_up("the writer could not be started");
    for (int i = 0; i < options.threads; i++) {
        pthread_t worker;
        if (pthread_create(&worker, NULL, backwards ? decompressor : compressor, NULL) != 0)
            give_up("a thread could not be started");
        pthread_detach(worker);
    }
}

static void tear_down(void)
{
    delete_queue(fifo);
    fifo = NULL;
}
