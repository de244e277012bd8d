// Contexts come and go. The first one makes what all share, the last one frees it.

static struct context *new_context(void)
{
    struct context *context = calloc(1, sizeof *context);
    if (context == NULL)
        give_up("there is not enough memory for a context", "");
    pthread_mutex_lock(&runtime.mutex);
    int first = runtime.contexts == 0;
    runtime.contexts++;
    pthread_mutex_unlock(&runtime.mutex);
    if (first) {
        int made = init_atom_state(&runtime.atoms);
        assert(made && "the atom table was made");
    }
    context->random = 1;
    context->global = new_object(context, PLAIN);
    define_numbers(context);
    define_strings(context);
    define_arrays(context);
    define_shared(context);
    return context;
}

static void destroy_context(struct context *context)
{
    free_blocks(context);
    free(context);
    pthread_mutex_lock(&runtime.mutex);
    runtime.contexts--;
    int last = runtime.contexts == 0;
    pthread_mutex_unlock(&runtime.mutex);
    if (last)
        free_atom_state(&runtime.atoms);
}
