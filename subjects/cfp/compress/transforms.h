// The three transforms that make a block easier to code, and their inverses. They work on arrays of their own;
// only what goes in and comes out is in blocks.

/// The most that run lengths can add to a block: a count after each four equal bytes.
#define MOST_RUNS (MAX_BLOCK_BYTES + MAX_BLOCK_BYTES / 4 + 4)

/// Four equal bytes are followed by how many more of them come.
static int encode_runs(const unsigned char *from, int length, unsigned char *to)
{
    int used = 0;
    for (int i = 0; i < length;) {
        unsigned char byte = from[i];
        int run = 1;
        while (i + run < length && run < 259 && from[i + run] == byte)
            run++;
        for (int k = 0; k < run && k < 4; k++)
            to[used++] = byte;
        if (run >= 4)
            to[used++] = (unsigned char)(run - 4);
        i += run;
    }
    return used;
}

static int decode_runs(const unsigned char *from, int length, unsigned char *to)
{
    int used = 0, run = 0, before = -1;
    for (int i = 0; i < length; i++) {
        int byte = from[i];
        run = byte == before ? run + 1 : 1;
        before = byte;
        to[used++] = (unsigned char)byte;
        if (run == 4) {
            for (int more = from[++i]; more > 0; more--)
                to[used++] = (unsigned char)byte;
            before = -1;
        }
    }
    return used;
}

/// Sorts all rotations of the block, by their first byte, then by twice as many bytes in each round, and keeps
/// the byte before each. Returns where the block itself came to be.
static int sort_rotations(const unsigned char *from, int length, unsigned char *to)
{
    int order[MOST_RUNS], next[MOST_RUNS], rank[MOST_RUNS], ranked[MOST_RUNS];
    int ends[MOST_RUNS > 256 ? MOST_RUNS : 256];
    int first = 0, ranks = 256;

    for (int i = 0; i < length; i++) {
        rank[i] = from[i];
        next[i] = i;
    }
    for (int width = 0; ; width = width == 0 ? 1 : 2 * width) {
        for (int r = 0; r < ranks; r++)
            ends[r] = 0;
        for (int i = 0; i < length; i++)
            ends[rank[i]]++;
        for (int r = 1; r < ranks; r++)
            ends[r] += ends[r - 1];
        for (int i = length - 1; i >= 0; i--)
            order[--ends[rank[next[i]]]] = next[i];
        ranks = 0;
        for (int i = 0; i < length; i++) {
            int one = order[i], before = i > 0 ? order[i - 1] : one;
            int same = rank[one] == rank[before] && rank[(one + width) % length] == rank[(before + width) % length];
            if (i > 0 && !same)
                ranks++;
            ranked[one] = ranks;
        }
        ranks++;
        for (int i = 0; i < length; i++)
            rank[i] = ranked[i];
        if (ranks == length || width >= length)
            break;
        int reach = width == 0 ? 1 : 2 * width;
        for (int i = 0; i < length; i++)
            next[i] = (order[i] + length - reach % length) % length;
    }
    for (int i = 0; i < length; i++) {
        to[i] = from[(order[i] + length - 1) % length];
        if (order[i] == 0)
            first = i;
    }
    return first;
}

static void unsort_rotations(const unsigned char *from, int length, int first, unsigned char *to)
{
    int begins[257] = { 0 };
    int follows[MOST_RUNS];
    unsigned char bytes[MOST_RUNS];

    for (int i = 0; i < length; i++) {
        bytes[i] = from[i];
        begins[bytes[i] + 1]++;
    }
    for (int byte = 0; byte < 256; byte++)
        begins[byte + 1] += begins[byte];
    for (int i = 0; i < length; i++)
        follows[begins[bytes[i]]++] = i;
    for (int i = 0, at = first; i < length; i++) {
        at = follows[at];
        to[i] = bytes[at];
    }
}

/// Each byte becomes its place in a list of bytes, and moves to the list's front.
static void encode_moves(unsigned char *bytes, int length)
{
    unsigned char list[256];
    for (int i = 0; i < 256; i++)
        list[i] = (unsigned char)i;
    for (int i = 0; i < length; i++) {
        unsigned char byte = bytes[i];
        int place = 0;
        while (list[place] != byte)
            place++;
        for (int k = place; k > 0; k--)
            list[k] = list[k - 1];
        list[0] = byte;
        bytes[i] = (unsigned char)place;
    }
}

static void decode_moves(unsigned char *bytes, int length)
{
    unsigned char list[256];
    for (int i = 0; i < 256; i++)
        list[i] = (unsigned char)i;
    for (int i = 0; i < length; i++) {
        int place = bytes[i];
        unsigned char byte = list[place];
        for (int k = place; k > 0; k--)
            list[k] = list[k - 1];
        list[0] = byte;
        bytes[i] = byte;
    }
}
