/*
 * Names the operations of an object that is meant to be used by several threads at once, so that
 * `threadbare generate` can make tests of them.
 *
 *     #include <threadbare.h>
 *     #include "stack.h"
 *
 *     THREADBARE_OBJECT(struct stack, stack_new(), stack_free(self))
 *
 *     THREADBARE_OPERATION(push, 1) { return stack_push(self, (int)arg[0]); }
 *     THREADBARE_OPERATION(pop, 0) { return stack_pop(self); }
 *     THREADBARE_OBSERVER(size, 0) { return stack_size(self); }
 *
 * THREADBARE_OBJECT names the type of `*self`, how one is made, and how it is freed. An operation has
 * a name and a number of arguments, at most three; `arg[0]` and so on are small numbers from 0 on,
 * below THREADBARE_VALUES (4 unless it is defined before this header is included). What an operation returns
 * is what it is compared by (0 if there is nothing to compare); in C++ an exception that leaves an operation
 * counts as a result of its own. Observers are operations that change nothing: they are also called when all
 * threads have ended.
 *
 * A test is a text: `push 1; push 2 | pop | pop; push 3`. What is before the first bar is done by the
 * main thread on a new object; then each of the other parts is done by a thread of its own.
 *
 * The program that results has these arguments:
 *     --operations             name the operations
 *     TEST                     run a test
 *     TEST --linearizable      and abort if no order of whole operations explains the results
 *     TEST --results           print what each sequential order of the calls returns
 */
#ifndef THREADBARE_H
#define THREADBARE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef THREADBARE_VALUES
#define THREADBARE_VALUES 4
#endif

enum {
    tb_most_operations = 64,
    tb_most_calls = 24,
    tb_most_parts = 9,
    tb_most_arguments = 3,
    /* Sequential orders of one test. */
    tb_most_orders = 20000
};

/* The result of an operation that an exception left. */
#define TB_THREW ((long)0x8000000000000001)

/* What the harness itself does is no part of the test: it shall make no scheduling points. */
#define TB_UNSEEN __attribute__((no_sanitize_thread, unused))

typedef long (*tb_routine)(void *self, const long *arg);

struct tb_operation {
    const char *name;
    int arguments;
    int observes;
    tb_routine routine;
};

struct tb_call {
    int operation;
    /* 0 is the main thread before the others begin, 1 the first thread. */
    int part;
    long arg[tb_most_arguments];
};

static struct tb_operation tb_operations[tb_most_operations];
static int tb_operation_count;
static struct tb_call tb_calls[tb_most_calls];
static int tb_call_count;
static int tb_part_count;
static void *tb_self;

/* When each call began and ended, and what it returned; observers at the end come after all calls. */
static long tb_began[tb_most_calls], tb_ended[tb_most_calls];
static long tb_results[tb_most_calls + tb_most_operations];
static long tb_clock;

/* The sequential orders: the calls in order, and their results by call. */
struct tb_order {
    signed char calls[tb_most_calls];
    long results[tb_most_calls + tb_most_operations];
};
static struct tb_order *tb_orders;
static int tb_order_count;

static void *tb_construct(void);
static void tb_destroy(void *self);

static void TB_UNSEEN tb_register(const char *name, int arguments, int observes, tb_routine routine)
{
    if (tb_operation_count == tb_most_operations || arguments > tb_most_arguments) {
        fprintf(stderr, "threadbare.h: `%s` is one operation too many, or has too many arguments\n", name);
        exit(2);
    }
    struct tb_operation *it = &tb_operations[tb_operation_count++];
    it->name = name;
    it->arguments = arguments;
    it->observes = observes;
    it->routine = routine;
}

#ifdef __cplusplus
#define TB_CALL(routine, self, arg) \
    ([&]() -> long { \
        try { \
            return routine(self, arg); \
        } catch (...) { \
            return TB_THREW; \
        } \
    }())
#else
#define TB_CALL(routine, self, arg) routine(self, arg)
#endif

#define TB_OPERATION(name_, arguments_, observes_) \
    static long tb_body_##name_(tb_object *self, const long *arg); \
    static long TB_UNSEEN tb_call_##name_(void *self, const long *arg) \
    { \
        return TB_CALL(tb_body_##name_, (tb_object *)self, arg); \
    } \
    static long TB_UNSEEN tb_do_##name_(void *self, long first, long second, long third) \
    { \
        const long arg[tb_most_arguments] = {first, second, third}; \
        return tb_call_##name_(self, arg); \
    } \
    __attribute__((constructor)) static void TB_UNSEEN tb_register_##name_(void) \
    { \
        tb_register(#name_, arguments_, observes_, tb_call_##name_); \
    } \
    static long tb_body_##name_( \
        tb_object *self __attribute__((unused)), const long *arg __attribute__((unused)))

#define THREADBARE_OPERATION(name, arguments) TB_OPERATION(name, arguments, 0)
#define THREADBARE_OBSERVER(name, arguments) TB_OPERATION(name, arguments, 1)

#define THREADBARE_OBJECT(type, make, release) \
    typedef type tb_object; \
    static void *tb_construct(void) \
    { \
        tb_object *self = make; \
        return (void *)self; \
    } \
    static void tb_destroy(void *given) \
    { \
        tb_object *self = (tb_object *)given; \
        (void)self; \
        release; \
    }

static int TB_UNSEEN tb_find(const char *name)
{
    for (int i = 0; i < tb_operation_count; i++)
        if (strcmp(tb_operations[i].name, name) == 0)
            return i;
    fprintf(stderr, "there is no operation `%s`; --operations names them\n", name);
    exit(2);
}

static void TB_UNSEEN tb_parse_call(char *text, int part)
{
    char *rest = NULL;
    char *word = strtok_r(text, " ", &rest);
    if (!word)
        return;
    if (tb_call_count == tb_most_calls) {
        fprintf(stderr, "the test has more than %d calls\n", (int)tb_most_calls);
        exit(2);
    }
    struct tb_call *call = &tb_calls[tb_call_count++];
    call->operation = tb_find(word);
    call->part = part;
    for (int i = 0; i < tb_operations[call->operation].arguments; i++) {
        word = strtok_r(NULL, " ", &rest);
        call->arg[i] = word ? strtol(word, NULL, 10) : 0;
    }
}

static void TB_UNSEEN tb_parse(const char *given)
{
    char *text = strdup(given);
    for (char *part = text; part;) {
        char *bar = strchr(part, '|');
        if (bar)
            *bar = 0;
        if (tb_part_count == tb_most_parts) {
            fprintf(stderr, "the test has more than %d threads\n", (int)tb_most_parts - 1);
            exit(2);
        }
        for (char *call = part; call;) {
            char *end = strchr(call, ';');
            if (end)
                *end = 0;
            tb_parse_call(call, tb_part_count);
            call = end ? end + 1 : NULL;
        }
        tb_part_count++;
        part = bar ? bar + 1 : NULL;
    }
    free(text);
}

static void TB_UNSEEN tb_begin(int index)
{
    tb_began[index] = ++tb_clock;
}

static void TB_UNSEEN tb_end(int index, long result)
{
    tb_results[index] = result;
    tb_ended[index] = ++tb_clock;
}

static void TB_UNSEEN tb_make_call(int index)
{
    struct tb_call *call = &tb_calls[index];
    tb_begin(index);
    tb_end(index, tb_operations[call->operation].routine(tb_self, call->arg));
}

static void TB_UNSEEN tb_run_part(int part)
{
    for (int i = 0; i < tb_call_count; i++)
        if (tb_calls[i].part == part)
            tb_make_call(i);
}

static void *TB_UNSEEN tb_thread(void *part)
{
    tb_run_part((int)(long)part);
    return NULL;
}

static void TB_UNSEEN tb_observe(void)
{
    static const long no_arguments[tb_most_arguments] = {0};
    for (int i = 0; i < tb_operation_count; i++)
        if (tb_operations[i].observes)
            tb_results[tb_call_count + i] = tb_operations[i].routine(tb_self, no_arguments);
}

/* Does the calls of all parts in every order that keeps each part's own, on a new object each time. */
static int TB_UNSEEN tb_try_orders(signed char *chosen, int depth)
{
    if (depth == tb_call_count) {
        if (tb_order_count == tb_most_orders)
            return 0;
        tb_orders = (struct tb_order *)realloc(tb_orders, (tb_order_count + 1) * sizeof *tb_orders);
        struct tb_order *order = &tb_orders[tb_order_count++];
        tb_self = tb_construct();
        for (int i = 0; i < tb_call_count; i++)
            tb_make_call(chosen[i]);
        tb_observe();
        tb_destroy(tb_self);
        memcpy(order->calls, chosen, tb_most_calls);
        memcpy(order->results, tb_results, sizeof tb_results);
        return 1;
    }
    int prefix_left = 0, tried[tb_most_parts] = {0};
    for (int i = 0; i < tb_call_count; i++) {
        int done = 0, part = tb_calls[i].part;
        for (int k = 0; k < depth; k++)
            done |= chosen[k] == i;
        if (done || tried[part] || (part > 0 && prefix_left))
            continue;
        tried[part] = 1;
        prefix_left |= part == 0;
        chosen[depth] = (signed char)i;
        if (!tb_try_orders(chosen, depth + 1))
            return 0;
    }
    return 1;
}

static void TB_UNSEEN tb_do_orders(void)
{
    signed char chosen[tb_most_calls] = {0};
    long began[tb_most_calls], ended[tb_most_calls], results[tb_most_calls + tb_most_operations];
    void *self = tb_self;
    memcpy(began, tb_began, sizeof began);
    memcpy(ended, tb_ended, sizeof ended);
    memcpy(results, tb_results, sizeof results);
    if (!tb_try_orders(chosen, 0)) {
        fprintf(stderr, "the test has more than %d sequential orders\n", (int)tb_most_orders);
        exit(2);
    }
    memcpy(tb_began, began, sizeof began);
    memcpy(tb_ended, ended, sizeof ended);
    memcpy(tb_results, results, sizeof results);
    tb_self = self;
}

static int TB_UNSEEN tb_explains(const struct tb_order *order)
{
    if (memcmp(order->results, tb_results, sizeof tb_results) != 0)
        return 0;
    for (int later = 0; later < tb_call_count; later++)
        for (int earlier = 0; earlier < later; earlier++)
            if (tb_ended[order->calls[later]] < tb_began[order->calls[earlier]])
                return 0;
    return 1;
}

static void TB_UNSEEN tb_print_call(FILE *out, int index)
{
    const struct tb_call *call = &tb_calls[index];
    const struct tb_operation *operation = &tb_operations[call->operation];
    fprintf(out, "%s", operation->name);
    for (int i = 0; i < operation->arguments; i++)
        fprintf(out, " %ld", call->arg[i]);
}

static void TB_UNSEEN tb_check_results(void)
{
    for (int i = 0; i < tb_order_count; i++)
        if (tb_explains(&tb_orders[i]))
            return;
    fprintf(stderr, "not linearizable: no order of whole operations gives these results\n");
    for (int i = 0; i < tb_call_count; i++) {
        fprintf(stderr, tb_calls[i].part ? "  thread %d: " : "  before:   ", tb_calls[i].part);
        tb_print_call(stderr, i);
        if (tb_results[i] == TB_THREW)
            fprintf(stderr, " threw an exception\n");
        else
            fprintf(stderr, " = %ld\n", tb_results[i]);
    }
    for (int i = 0; i < tb_operation_count; i++)
        if (tb_operations[i].observes)
            fprintf(stderr, "  after:    %s = %ld\n", tb_operations[i].name, tb_results[tb_call_count + i]);
    abort();
}

/* Every sequential order's results: those of the calls, then those of the observers. */
static void TB_UNSEEN tb_print_results(void)
{
    for (int i = 0; i < tb_order_count; i++) {
        for (int call = 0; call < tb_call_count; call++)
            printf("%ld ", tb_orders[i].results[call]);
        for (int k = 0; k < tb_operation_count; k++)
            if (tb_operations[k].observes)
                printf("%ld ", tb_orders[i].results[tb_call_count + k]);
        printf("\n");
    }
}

static int TB_UNSEEN tb_main(int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "--operations") == 0) {
        printf("values %d\n", (int)THREADBARE_VALUES);
        for (int i = 0; i < tb_operation_count; i++)
            printf("%s %d%s\n", tb_operations[i].name, tb_operations[i].arguments,
                   tb_operations[i].observes ? " observer" : "");
        return 0;
    }
    tb_parse(argv[1]);
    int list = argc > 2 && strcmp(argv[2], "--results") == 0;
    int compare = argc > 2 && strcmp(argv[2], "--linearizable") == 0;
    /* The object of the test comes first, so that its memory has the same names in every test. */
    tb_self = tb_construct();
    tb_run_part(0);
    if (list || compare)
        tb_do_orders();
    if (list) {
        tb_print_results();
        return 0;
    }
    pthread_t threads[tb_most_parts];
    for (int part = 1; part < tb_part_count; part++)
        pthread_create(&threads[part], NULL, tb_thread, (void *)(long)part);
    for (int part = 1; part < tb_part_count; part++)
        pthread_join(threads[part], NULL);
    tb_observe();
    if (compare)
        tb_check_results();
    tb_destroy(tb_self);
    return 0;
}

#ifndef THREADBARE_NO_MAIN
int main(int argc, char **argv)
{
    return tb_main(argc, argv);
}
#endif

#endif
