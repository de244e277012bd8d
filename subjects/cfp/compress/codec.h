// A block through all transforms, there and back. A compressed block begins with four numbers: its length, the
// check of what it holds, the length after run lengths, and where the block came to be among its rotations.

#define HEADER 16

static struct block *compress_block(struct block *block)
{
    unsigned char *runs = allocate(MOST_RUNS);
    unsigned char *sorted = allocate(MOST_RUNS);
    struct block *result = new_block(block->number, HEADER + 256 + 3 * MOST_RUNS);

    int length = encode_runs(block->bytes, block->length, runs);
    int first = sort_rotations(runs, length, sorted);
    encode_moves(sorted, length);
    put_number(result->bytes, block->length);
    put_number(result->bytes + 4, check_of(block->bytes, block->length));
    put_number(result->bytes + 8, length);
    put_number(result->bytes + 12, first);
    result->length = HEADER + encode_bytes(sorted, length, result->bytes + HEADER);
    free(runs);
    free(sorted);
    return result;
}

static struct block *decompress_block(struct block *block)
{
    unsigned char *runs = allocate(MOST_RUNS);
    unsigned char *sorted = allocate(MOST_RUNS);
    struct block *result = new_block(block->number, MAX_BLOCK_BYTES);

    int length = get_number(block->bytes + 8);
    decode_bytes(block->bytes + HEADER, length, sorted);
    decode_moves(sorted, length);
    unsort_rotations(sorted, length, get_number(block->bytes + 12), runs);
    result->length = decode_runs(runs, length, result->bytes);
    free(runs);
    free(sorted);
    return result;
}

/// A block is whole if it has the length and the check that were written down when it was compressed.
static int is_whole(const struct block *compressed, const struct block *restored)
{
    return (unsigned)restored->length == get_number(compressed->bytes)
        && check_of(restored->bytes, restored->length) == get_number(compressed->bytes + 4);
}

/// The part of a text that is the block of this number, as a copy.
static struct block *cut_block(const struct text *text, int number)
{
    int begin = number * options.block_bytes;
    int length = text->length - begin;
    if (length > options.block_bytes)
        length = options.block_bytes;
    struct block *block = new_block(number, length);
    memcpy(block->bytes, text->bytes + begin, length);
    block->length = length;
    return block;
}

/// Compressed blocks one after the other, each with its length before it: what `-d` and `-t` begin with.
static struct text compress_directly(const struct text *text)
{
    int count = (text->length + options.block_bytes - 1) / options.block_bytes;
    struct text stream = { allocate((size_t)count * (4 + HEADER + 256 + 3 * MOST_RUNS)), 0 };
    for (int number = 0; number < count; number++) {
        struct block *block = cut_block(text, number);
        struct block *compressed = compress_block(block);
        put_number(stream.bytes + stream.length, compressed->length);
        memcpy(stream.bytes + stream.length + 4, compressed->bytes, compressed->length);
        stream.length += 4 + compressed->length;
        free_block(block);
        free_block(compressed);
    }
    return stream;
}
