// Huffman codes for bytes: lengths by how often each byte comes, codes by length and byte.

struct codes {
    unsigned char lengths[256];
    unsigned codes[256];
};

struct bits {
    unsigned char *at;
    unsigned pending;
    int count;
};

/// Joins the two rarest trees until one is left; a byte's code is as long as its leaf is deep.
static void measure_lengths(const unsigned char *bytes, int length, unsigned char *lengths)
{
    int weight[512] = { 0 }, parent[512] = { 0 };
    int trees = 256;
    for (int i = 0; i < length; i++)
        weight[bytes[i]]++;
    for (;;) {
        int rarest = -1, second = -1;
        for (int t = 0; t < trees; t++) {
            if (weight[t] == 0 || parent[t] != 0)
                continue;
            if (rarest < 0 || weight[t] < weight[rarest]) {
                second = rarest;
                rarest = t;
            } else if (second < 0 || weight[t] < weight[second]) {
                second = t;
            }
        }
        if (second < 0)
            break;
        weight[trees] = weight[rarest] + weight[second];
        parent[rarest] = parent[second] = trees++;
    }
    for (int byte = 0; byte < 256; byte++) {
        int depth = 0;
        for (int t = byte; parent[t] != 0; t = parent[t])
            depth++;
        lengths[byte] = (unsigned char)(weight[byte] != 0 && depth == 0 ? 1 : depth);
    }
}

static void assign_codes(struct codes *codes)
{
    unsigned code = 0;
    for (int length = 1; length < 32; length++) {
        for (int byte = 0; byte < 256; byte++)
            if (codes->lengths[byte] == length)
                codes->codes[byte] = code++;
        code <<= 1;
    }
}

static void put_bits(struct bits *bits, unsigned code, int length)
{
    bits->pending = bits->pending << length | code;
    bits->count += length;
    while (bits->count >= 8) {
        bits->count -= 8;
        *bits->at++ = (unsigned char)(bits->pending >> bits->count);
    }
}

static int get_bit(struct bits *bits)
{
    if (bits->count == 0) {
        bits->pending = *bits->at++;
        bits->count = 8;
    }
    return bits->pending >> --bits->count & 1;
}

/// Writes the lengths, then the codes; returns how many bytes that took.
static int encode_bytes(const unsigned char *from, int length, unsigned char *to)
{
    struct codes codes = { { 0 }, { 0 } };
    struct bits bits = { to + 256, 0, 0 };
    measure_lengths(from, length, codes.lengths);
    assign_codes(&codes);
    memcpy(to, codes.lengths, 256);
    for (int i = 0; i < length; i++)
        put_bits(&bits, codes.codes[from[i]], codes.lengths[from[i]]);
    if (bits.count > 0)
        put_bits(&bits, 0, 8 - bits.count);
    return (int)(bits.at - to);
}

/// Follows the bits code by code: codes of one length are consecutive.
static void decode_bytes(unsigned char *from, int length, unsigned char *to)
{
    int counts[32] = { 0 }, starts[33] = { 0 };
    unsigned char sorted[256];
    for (int byte = 0; byte < 256; byte++)
        if (from[byte] != 0)
            counts[from[byte]]++;
    for (int depth = 1; depth < 32; depth++)
        starts[depth + 1] = starts[depth] + counts[depth];
    for (int depth = 1; depth < 32; depth++)
        for (int byte = 0, place = starts[depth]; byte < 256; byte++)
            if (from[byte] == depth)
                sorted[place++] = (unsigned char)byte;
    struct bits bits = { from + 256, 0, 0 };
    for (int i = 0; i < length; i++) {
        int code = 0, first = 0, depth = 0;
        do {
            first = (first + counts[depth]) << 1;
            code = code << 1 | get_bit(&bits);
            depth++;
        } while (code - first >= counts[depth]);
        to[i] = sorted[starts[depth] + code - first];
    }
}
