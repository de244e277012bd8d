// expect: pass
// executions: 200
// strategies: random auto dfs
// os-threads
// Every execution begins with the files that the first one had, whatever was done to them.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int kept, memory_file;
static char *mapped;

static void write_file(const char *name, const char *text) {
    FILE *file = fopen(name, "w");
    assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void check_file(const char *name, const char *text) {
    char got[64] = "";
    FILE *file = fopen(name, "r");
    assert(file && fread(got, 1, sizeof got - 1, file) == strlen(text) && strcmp(got, text) == 0);
    fclose(file);
}

static void *removes(void *unused) {
    remove("from_start");
    return unused;
}

static void *makes(void *unused) {
    int fd = open("from_start", O_CREAT | O_RDWR, 0644);
    assert(fd >= 0 && write(fd, "X", 1) == 1);
    close(fd);
    return unused;
}

int main(void) {
    write_file("from_start", "start");
    write_file("appended", "a");
    write_file("renamed", "r");
    write_file("replaced", "old");
    write_file("cut", "a long text");
    mkdir("folder", 0755);
    write_file("folder/inside", "inside");
    kept = open("kept_open", O_CREAT | O_RDWR | O_TRUNC, 0644);
    assert(kept >= 0 && write(kept, "before", 6) == 6);
    memory_file = open("mapped", O_CREAT | O_RDWR | O_TRUNC, 0644);
    assert(ftruncate(memory_file, 4096) == 0);
    mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory_file, 0);
    assert(mapped != MAP_FAILED);
    strcpy(mapped, "mapped");

    pthread_t a, b;
    pthread_create(&a, 0, removes, 0);
    pthread_create(&b, 0, makes, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);

    assert(access("new", F_OK) < 0 && errno == ENOENT);
    write_file("new", "new");
    check_file("appended", "a");
    FILE *more = fopen("appended", "a");
    assert(more && fputs("b", more) >= 0 && fclose(more) == 0);
    check_file("replaced", "old");
    assert(rename("renamed", "replaced") == 0);
    check_file("replaced", "r");
    check_file("cut", "a long text");
    assert(truncate("cut", 2) == 0);
    check_file("folder/inside", "inside");
    assert(unlink("folder/inside") == 0 && rmdir("folder") == 0);
    assert(mkdir("other", 0700) == 0);
    write_file("other/inside", "x");
    assert(symlink("new", "link") == 0);
    char name[] = "tempXXXXXX";
    int made = mkstemp(name);
    assert(made >= 0);
    close(made);

    // The open file and the one of its name stay one file.
    char got[16] = "";
    assert(lseek(kept, 0, SEEK_CUR) == 6 && pread(kept, got, 15, 0) == 6 && strcmp(got, "before") == 0);
    check_file("kept_open", "before");
    assert(pwrite(kept, "AFTER!!!", 8, 0) == 8);
    check_file("kept_open", "AFTER!!!");
    assert(unlink("kept_open") == 0);

    assert(strcmp(mapped, "mapped") == 0);
    strcpy(mapped, "changed");
    char read_back[8] = "";
    int again = open("mapped", O_RDONLY);
    assert(again >= 0 && read(again, read_back, 7) == 7 && strcmp(read_back, "changed") == 0);
    close(again);
    assert(unlink("mapped") == 0);
    return 0;
}
