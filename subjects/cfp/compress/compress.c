// A parallel block compressor, in the shape of pbzip2 0.9.4.
//
//   compress [-d | -t] [-pN] [-bK] [-nK] [-kSEED] [-c] [-v] [-e] [-]
//
//   -d    decompress instead: what is compressed beforehand, by main alone
//   -t    test: decompress, compare checksums, write nothing
//   -pN   threads that compress or decompress (2)      -c   write the result to stdout, in hexadecimal
//   -bK   kilobytes in a block (4)                     -v   tell of each block
//   -nK   kilobytes of generated text (32)             -e   eager: the writer helps while it waits
//   -k    seed of the text (1)                         -    compress stdin instead of a generated text
//
// Main reads blocks into a queue; threads take them from there, run them through run lengths, the
// Burrows-Wheeler transform, move-to-front and Huffman codes, and leave them in a table; the writer takes them
// from the table in order.
//
// The bugs, in the manner of the original:
// * Main waits for the writer only, then takes the queue down. A thread that is about to find out that nothing
//   is left still uses it (`tear_down` against `compressor` and `decompressor`).
// * The writer asks "is everything written that was read?" before "has main read everything?", without a lock.
//   Main may read on between the two questions, and the end is never written (`write_in_order`).
// * The eager writer looks whether the queue is empty and takes a block in a second critical section (`help`).
// The races on `outputs` and `statistics` do no harm.

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_THREADS 16
#define MAX_BLOCKS 1024
#define MAX_BLOCK_BYTES 16384

#include "options.h"
#include "block.h"
#include "text.h"
#include "transforms.h"
#include "huffman.h"
#include "codec.h"
#include "queue.h"
#include "pipeline.h"
#include "report.h"

int main(int argc, char **argv)
{
    parse(argc, argv);
    struct text text = options.from_stdin ? read_text() : make_text(options.kilobytes * 1024, options.seed);
    int backwards = options.decompress || options.test;
    struct text source = backwards ? compress_directly(&text) : text;

    pthread_t writer;
    start_threads(backwards, &writer);
    produce(&source, backwards);
    pthread_join(writer, NULL);
    tear_down();

    assert(written == blocks_read && "every block was written");
    print_summary(&source);
    int wrong = backwards && !is_restored(&text);
    free_outputs();
    if (backwards)
        free(source.bytes);
    free(text.bytes);
    return wrong ? 1 : 0;
}
