// Scopes: the variables of a call, and of the calls around its function.

struct scope {
    struct scope *outer;
    struct object *variables;
};

static struct scope *new_scope(struct context *context, struct scope *outer)
{
    struct scope *scope = allocate(context, sizeof *scope);
    scope->outer = outer;
    scope->variables = new_object(context, PLAIN);
    return scope;
}

static void declare(struct context *context, struct scope *scope, struct atom *name, struct value value)
{
    set_property(context, scope->variables, name, value);
}

static struct property *find_variable(struct scope *scope, const struct atom *name)
{
    for (; scope != NULL; scope = scope->outer) {
        struct property *property = find_property(scope->variables, name);
        if (property != NULL)
            return property;
    }
    return NULL;
}

/// Names that mean the same everywhere.
static int is_constant(const struct atom *name, struct value *value)
{
    if (name == standard_atom(ATOM_TRUE) || name == standard_atom(ATOM_FALSE))
        *value = boolean_value(name == standard_atom(ATOM_TRUE));
    else if (name == standard_atom(ATOM_UNDEFINED))
        *value = undefined();
    else
        return 0;
    return 1;
}

static struct value get_variable(struct context *context, struct scope *scope, const struct atom *name)
{
    struct value value;
    struct property *property = find_variable(scope, name);
    if (property != NULL)
        return property->value;
    if (!is_constant(name, &value)) {
        complain(context, "there is no such variable");
        return undefined();
    }
    return value;
}

static void set_variable(struct context *context, struct scope *scope, struct atom *name, struct value value)
{
    struct property *property = find_variable(scope, name);
    if (property != NULL)
        property->value = value;
    else
        complain(context, "a variable has to be declared before it is set");
}
