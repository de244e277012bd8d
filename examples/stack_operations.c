// A stack for several threads, and its operations for `threadbare generate --linearizable`.
// One operation looks at the stack before it has the lock.
#include <pthread.h>
#include <stdlib.h>
#include <threadbare.h>

struct stack {
    pthread_mutex_t lock;
    int top;
    int items[8];
};

static struct stack *stack_new(void)
{
    struct stack *stack = calloc(1, sizeof *stack);
    pthread_mutex_init(&stack->lock, NULL);
    return stack;
}

static void stack_free(struct stack *stack)
{
    pthread_mutex_destroy(&stack->lock);
    free(stack);
}

static int push(struct stack *stack, int item)
{
    pthread_mutex_lock(&stack->lock);
    int fits = stack->top < 8;
    if (fits)
        stack->items[stack->top++] = item;
    pthread_mutex_unlock(&stack->lock);
    return fits;
}

static int pop(struct stack *stack)
{
    if (stack->top == 0)
        return -1;
    pthread_mutex_lock(&stack->lock);
    int item = stack->items[--stack->top];
    pthread_mutex_unlock(&stack->lock);
    return item;
}

THREADBARE_OBJECT(struct stack, stack_new(), stack_free(self))
THREADBARE_OPERATION(push, 1) { return push(self, (int)arg[0]); }
THREADBARE_OPERATION(pop, 0) { return pop(self); }
THREADBARE_OBSERVER(size, 0) { return self->top; }
