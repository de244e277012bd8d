// The text to compress: from stdin, or made up of words drawn with a seed.

struct text {
    unsigned char *bytes;
    int length;
};

#define MOST_TEXT (MAX_BLOCKS * 1024)

static unsigned draw(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static int put_word(unsigned char *at, int room, const char *word)
{
    int length = (int)strlen(word);
    if (length > room)
        length = room;
    memcpy(at, word, length);
    return length;
}

/// Words, and now and then a rule of dashes for the run lengths.
static struct text make_text(int length, unsigned seed)
{
    static const char *words[] = { "the ",  "thread ", "waits ", "for ",    "another ", "one ",    "which ", "holds ",
                                   "what ", "it ",     "needs ", "before ", "going ",   "on.\n",   "and ",   "so ",
                                   "all ",  "are ",    "late; ", "nobody ", "knows ",   "whom to ", "blame ", "today.\n" };
    struct text text = { allocate(length), length };
    int used = 0;
    while (used < length) {
        unsigned drawn = draw(&seed);
        if (drawn % 97 == 0)
            for (int dashes = 20 + drawn % 200; dashes > 0 && used < length; dashes--)
                text.bytes[used++] = '-';
        else
            used += put_word(text.bytes + used, length - used, words[drawn % 24]);
    }
    return text;
}

static struct text read_text(void)
{
    struct text text = { allocate(MOST_TEXT), 0 };
    text.length = (int)fread(text.bytes, 1, MOST_TEXT, stdin);
    if (!feof(stdin))
        give_up("stdin is longer than a megabyte, or cannot be read");
    return text;
}
