// Blocks of bytes, and numbers in them.

struct block {
    int number;
    int length;
    unsigned char *bytes;
};

static void *allocate(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        give_up("there is not enough memory; make the blocks or the text smaller");
    return memory;
}

static struct block *new_block(int number, int capacity)
{
    struct block *block = allocate(sizeof *block);
    block->number = number;
    block->length = 0;
    block->bytes = allocate(capacity);
    return block;
}

static void free_block(struct block *block)
{
    free(block->bytes);
    free(block);
}

static void put_number(unsigned char *at, unsigned number)
{
    for (int i = 0; i < 4; i++)
        at[i] = number >> (8 * i);
}

static unsigned get_number(const unsigned char *at)
{
    unsigned number = 0;
    for (int i = 0; i < 4; i++)
        number |= (unsigned)at[i] << (8 * i);
    return number;
}

/// A check that is slow on purpose, like one made for passwords: most of the time goes here, and it touches
/// nothing but the byte.
static unsigned check_of(const unsigned char *bytes, int length)
{
    unsigned check = 2166136261u;
    for (int i = 0; i < length; i++) {
        check ^= bytes[i];
        for (int round = 0; round < 512; round++) {
            check *= 16777619u;
            check ^= check >> 15;
        }
    }
    return check;
}
