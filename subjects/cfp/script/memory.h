// A context, and the memory it takes: pieces of blocks that are freed together with it.

#define BLOCK_BYTES 16384
#define OUTPUT_BYTES 2048

struct block {
    struct block *next;
    size_t used;
    size_t size;
    char bytes[];
};

struct object;

struct context {
    struct block *blocks;
    struct object *global;
    struct object *number_methods;
    struct object *string_methods;
    struct object *array_methods;
    unsigned random;
    int failed;
    int depth;
    int length; // of the output
    char output[OUTPUT_BYTES];
};

static struct block *add_block(struct context *context, size_t size)
{
    size_t bytes = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    struct block *block = malloc(sizeof *block + bytes);
    if (block == NULL)
        give_up("there is not enough memory for the request", "");
    block->next = context->blocks;
    block->used = 0;
    block->size = bytes;
    context->blocks = block;
    return block;
}

/// Memory filled with zeros that lives as long as the context.
static void *allocate(struct context *context, size_t size)
{
    size = (size + 15) & ~(size_t)15;
    struct block *block = context->blocks;
    if (block == NULL || block->size - block->used < size)
        block = add_block(context, size);
    void *memory = block->bytes + block->used;
    block->used += size;
    memset(memory, 0, size);
    note_allocation((long)size);
    return memory;
}

static void free_blocks(struct context *context)
{
    while (context->blocks != NULL) {
        struct block *next = context->blocks->next;
        free(context->blocks);
        context->blocks = next;
    }
}

/// A script went wrong. It ends where it is, and the request counts as failed.
static void complain(struct context *context, const char *why)
{
    if (!context->failed)
        fprintf(stderr, "script: %s\n", why);
    context->failed = 1;
}
