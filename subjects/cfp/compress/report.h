// What is said when all is written, and what is compared.

static void print_summary(const struct text *source)
{
    long length = 0;
    for (int i = 0; i < written; i++)
        length += outputs[i].block->length;
    fprintf(stderr, "%d blocks (%x), %d bytes became %ld; the longest %d, %d by the writer\n", written, written_check,
            source->length, length, statistics.longest, statistics.helped);
}

/// Whether the blocks, one after the other, are the text.
static int is_restored(const struct text *text)
{
    int at = 0;
    for (int i = 0; i < written; i++) {
        const struct block *block = outputs[i].block;
        if (at + block->length > text->length || memcmp(text->bytes + at, block->bytes, block->length) != 0) {
            fprintf(stderr, "block %d is not what was compressed\n", i);
            return 0;
        }
        at += block->length;
    }
    return at == text->length;
}

static void free_outputs(void)
{
    for (int i = 0; i < written; i++) {
        free_block(outputs[i].source);
        free_block(outputs[i].block);
    }
}
