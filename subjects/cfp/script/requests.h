// The requests: scripts, and what each has to print.

struct request {
    const char *name;
    const char *script;
    const char *expected;
};

/// Writes a script as it is. Its texts stand in double quotes, and it has no other use for quotes.
#define SCRIPT(...) #__VA_ARGS__

static const struct request requests[] = {
#include "requests/numbers.h"
#include "requests/texts.h"
#include "requests/collections.h"
#include "requests/programs.h"
};

static const struct request *find_request(const char *name)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++)
        if (strcmp(requests[i].name, name) == 0)
            return &requests[i];
    give_up("there is no request called ", name);
    return NULL;
}

/// A request's seal. It is slow to make, as seals are, and is made before a script may run.
static unsigned seal_of(const char *script)
{
    unsigned seal = 2166136261u;
    for (; *script != '\0'; script++) {
        seal ^= (unsigned char)*script;
        for (int round = 0; round < 10000; round++) {
            seal *= 16777619u;
            seal ^= seal >> 15;
        }
    }
    return seal;
}

/// Runs one request in a context of its own; says whether it printed what it has to.
static int run_request(const struct request *request)
{
    unsigned seal = seal_of(request->script);
    struct context *context = new_context();
    struct node *script = parse_script(context, request->script);
    struct scope *scope = new_scope(context, NULL);
    scope->variables = context->global;
    if (!context->failed)
        run_body(context, scope, script);
    int right = !context->failed && strcmp(context->output, request->expected) == 0;
    if (!right)
        fprintf(stderr, "script: %s (%x) printed \"%s\" instead of \"%s\"\n", request->name, seal, context->output,
                request->expected);
    destroy_context(context);
    return right;
}
