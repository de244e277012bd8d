// Output, and the tallies that all contexts share.

static struct value print(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    for (int i = 0; i < count; i++) {
        struct string *text = text_of(context, arguments[i]);
        int room = OUTPUT_BYTES - 2 - context->length;
        int length = text->length < room ? text->length : room;
        memcpy(context->output + context->length, text->text, length);
        context->length += length;
        context->output[context->length++] = i + 1 < count ? ' ' : ';';
        context->output[context->length] = '\0';
    }
    return undefined();
}

static int tally_index(struct context *context, struct value *arguments, int count)
{
    int index = (int)argument_number(context, arguments, count, 0, 0);
    if (index >= 0 && index < TALLIES)
        return index;
    complain(context, "there is no tally of this number");
    return 0;
}

/// tally(NUMBER, AMOUNT): adds to a tally.
static struct value tally(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    int index = tally_index(context, arguments, count);
    pthread_mutex_lock(&runtime.mutex);
    runtime.tallies[index] += argument_number(context, arguments, count, 1, 1);
    pthread_mutex_unlock(&runtime.mutex);
    return undefined();
}

/// tallied(NUMBER): what a tally has come to, more or less: it is read without the lock.
static struct value tallied(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    return number_value(runtime.tallies[tally_index(context, arguments, count)]);
}

static void define_shared(struct context *context)
{
    define(context, context->global, "print", print);
    define(context, context->global, "tally", tally);
    define(context, context->global, "tallied", tallied);
}
