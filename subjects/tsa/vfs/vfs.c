/* Correct: a small virtual file system in the spirit of Apache Commons VFS. Files are found
 * through a manager with a lock; each operation on the tree takes the file system's re-entrant
 * lock at a place of its own and attaches the file if need be, which takes it again; contents have
 * a lock per file. Locks are taken in the order manager, file system, content. Six threads make
 * files, read, write and delete them. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stddef.h>

#define FILES 3
#define CALLS 8
#define THREADS 6
#define LONGEST 16

struct file {
    pthread_mutex_t content_lock;
    int attached, exists, readers, writers;
    int length, checksum;
};

#define FILE_OBJECT {.content_lock = PTHREAD_MUTEX_INITIALIZER}

static struct file files[FILES] = {FILE_OBJECT, FILE_OBJECT, FILE_OBJECT};

static struct {
    pthread_mutex_t lock;
    int resolved[FILES];
} manager = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t tree = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static struct file *resolve(int name)
{
    pthread_mutex_lock(&manager.lock);
    manager.resolved[name] = 1;
    pthread_mutex_unlock(&manager.lock);
    return &files[name];
}

static void forget(int name)
{
    pthread_mutex_lock(&manager.lock);
    manager.resolved[name] = 0;
    pthread_mutex_unlock(&manager.lock);
}

/* Called with the lock held; it takes it again all the same. */
static void attach(struct file *file)
{
    if (file->attached)
        return;
    pthread_mutex_lock(&tree);
    file->attached = 1;
    pthread_mutex_unlock(&tree);
}

/* Defines an operation on the tree: under its lock, with the file attached. */
#define TREE_OPERATION(name, statement) \
    static void name(struct file *file) \
    {                                   \
        pthread_mutex_lock(&tree);      \
        attach(file);                   \
        statement;                      \
        pthread_mutex_unlock(&tree);    \
    }

static int is_open(const struct file *file)
{
    return file->readers + file->writers > 0;
}

static void truncate_content(struct file *file)
{
    pthread_mutex_lock(&file->content_lock);
    file->length = 0;
    file->checksum = 0;
    pthread_mutex_unlock(&file->content_lock);
}

static void delete_unless_open(struct file *file)
{
    if (file->exists && !is_open(file)) {
        truncate_content(file);
        file->exists = 0;
    }
}

static int count_children(void)
{
    int count = 0;
    for (int i = 0; i < FILES; i++)
        count += files[i].exists;
    return count;
}

TREE_OPERATION(create, file->exists = 1)
TREE_OPERATION(exists, (void)file->exists)
TREE_OPERATION(is_readable, (void)(file->exists && file->writers == 0))
TREE_OPERATION(is_writable, (void)(file->exists && !is_open(file)))
TREE_OPERATION(children, assert(count_children() <= FILES))
TREE_OPERATION(detach, file->attached = is_open(file))
TREE_OPERATION(refresh, if (!is_open(file)) file->attached = 0)
TREE_OPERATION(delete, delete_unless_open(file))

static int open_for_reading(struct file *file)
{
    pthread_mutex_lock(&tree);
    attach(file);
    int opened = file->exists && file->writers == 0;
    if (opened)
        file->readers = file->readers + 1;
    pthread_mutex_unlock(&tree);
    return opened;
}

static int open_for_writing(struct file *file)
{
    pthread_mutex_lock(&tree);
    attach(file);
    int opened = file->exists && !is_open(file);
    if (opened)
        file->writers = file->writers + 1;
    pthread_mutex_unlock(&tree);
    return opened;
}

static void end_reading(struct file *file)
{
    pthread_mutex_lock(&tree);
    file->readers = file->readers - 1;
    pthread_mutex_unlock(&tree);
}

static void end_writing(struct file *file)
{
    pthread_mutex_lock(&tree);
    file->writers = file->writers - 1;
    pthread_mutex_unlock(&tree);
}

static void read_file(struct file *file)
{
    if (!open_for_reading(file))
        return;
    pthread_mutex_lock(&file->content_lock);
    assert(file->checksum == file->length * 3);
    pthread_mutex_unlock(&file->content_lock);
    end_reading(file);
}

static void write_file(struct file *file)
{
    if (!open_for_writing(file))
        return;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&file->content_lock);
        if (file->length < LONGEST) {
            file->length = file->length + 1;
            file->checksum = file->checksum + 3;
        }
        pthread_mutex_unlock(&file->content_lock);
    }
    end_writing(file);
}

typedef void operation(struct file *file);

static operation *const scripts[THREADS][CALLS] = {
    {create, write_file, exists, read_file, children, is_readable, read_file, detach},
    {create, read_file, is_writable, write_file, refresh, read_file, delete, exists},
    {exists, create, write_file, children, read_file, delete, create, refresh},
    {is_writable, create, read_file, write_file, detach, children, exists, read_file},
    {children, is_readable, create, write_file, delete, refresh, is_writable, write_file},
    {refresh, create, write_file, read_file, is_readable, delete, detach, children},
};

static void *worker(void *arg)
{
    int number = (int)(long)arg;
    for (int i = 0; i < CALLS; i++)
        scripts[number][i](resolve((number + i / 3) % FILES));
    forget(number % FILES);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];

    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < FILES; i++)
        assert(!is_open(&files[i]) && files[i].checksum == files[i].length * 3);
    return 0;
}
