// Expressions become values.

#define MOST_ARGUMENTS 8
#define DEEPEST 200

static struct value evaluate(struct context *context, struct scope *scope, struct node *node);
static struct value run_body(struct context *context, struct scope *scope, struct node *body);

/// The object that holds a primitive value's methods.
static struct object *methods_of(struct context *context, struct value value)
{
    switch (value.kind) {
    case BOOLEAN:
    case NUMBER: return context->number_methods;
    case STRING: return context->string_methods;
    case OBJECT: return value.as.object->class == ARRAY ? context->array_methods : NULL;
    default: return NULL;
    }
}

static int length_of(struct value value)
{
    if (value.kind == STRING)
        return value.as.string->length;
    return value.kind == OBJECT && value.as.object->class == ARRAY ? value.as.object->length : -1;
}

static struct value get_member(struct context *context, struct value value, struct atom *name)
{
    struct property *property = NULL;
    if (name == standard_atom(ATOM_LENGTH) && length_of(value) >= 0)
        return number_value(length_of(value));
    if (value.kind == OBJECT)
        property = find_property(value.as.object, name);
    if (property == NULL && methods_of(context, value) != NULL)
        property = find_property(methods_of(context, value), name);
    if (value.kind == UNDEFINED)
        complain(context, "nothing has no members");
    return property == NULL ? undefined() : property->value;
}

static struct value get_index(struct context *context, struct value value, struct value index)
{
    if (value.kind == OBJECT && value.as.object->class == ARRAY && index.kind == NUMBER)
        return element_at(value.as.object, (int)index.as.number);
    if (value.kind == STRING && index.kind == NUMBER) {
        int at = (int)index.as.number;
        return at >= 0 && at < value.as.string->length ? string_value(string_of(context, value.as.string->text + at, 1))
                                                       : undefined();
    }
    return get_member(context, value, atom_of(text_of(context, index)->text));
}

static void set_index(struct context *context, struct value value, struct value index, struct value to)
{
    if (value.kind != OBJECT)
        complain(context, "only objects and arrays can be changed");
    else if (value.as.object->class == ARRAY && index.kind == NUMBER)
        set_element(context, value.as.object, (int)index.as.number, to);
    else
        set_property(context, value.as.object, atom_of(text_of(context, index)->text), to);
}

static struct value call_function(struct context *context, struct object *function, struct value self,
                                  struct value *arguments, int count)
{
    struct scope *scope = new_scope(context, function->scope);
    int number = 0;
    for (struct node *parameter = function->function->first; parameter != NULL; parameter = parameter->next, number++)
        declare(context, scope, parameter->name, number < count ? arguments[number] : undefined());
    declare(context, scope, standard_atom(ATOM_THIS), self);
    return run_body(context, scope, function->function->body);
}

static struct value call(struct context *context, struct value callee, struct value self, struct value *arguments, int count)
{
    struct value result = undefined();
    if (callee.kind != OBJECT || callee.as.object->class == PLAIN || callee.as.object->class == ARRAY) {
        complain(context, "this is not a function");
        return result;
    }
    if (context->depth >= DEEPEST) {
        complain(context, "the calls are nested too deeply");
        return result;
    }
    context->depth++;
    if (callee.as.object->class == NATIVE)
        result = callee.as.object->native(context, self, arguments, count);
    else
        result = call_function(context, callee.as.object, self, arguments, count);
    context->depth--;
    return result;
}

static struct value evaluate_call(struct context *context, struct scope *scope, struct node *node)
{
    struct value arguments[MOST_ARGUMENTS], self = undefined(), callee;
    int count = 0;
    if (node->first->kind == N_MEMBER) {
        self = evaluate(context, scope, node->first->first);
        callee = get_member(context, self, node->first->name);
    } else {
        callee = evaluate(context, scope, node->first);
    }
    for (struct node *argument = node->second; argument != NULL && count < MOST_ARGUMENTS; argument = argument->next)
        arguments[count++] = evaluate(context, scope, argument);
    return context->failed ? undefined() : call(context, callee, self, arguments, count);
}

/// Puts a value where a variable, a member or an element is written.
static void assign(struct context *context, struct scope *scope, struct node *target, struct value value)
{
    if (target->kind == N_NAME) {
        set_variable(context, scope, target->name, value);
    } else if (target->kind == N_INDEX) {
        struct value object = evaluate(context, scope, target->first);
        set_index(context, object, evaluate(context, scope, target->second), value);
    } else if (target->kind == N_MEMBER) {
        struct value object = evaluate(context, scope, target->first);
        if (object.kind == OBJECT)
            set_property(context, object.as.object, target->name, value);
        else
            complain(context, "only objects have members that can be set");
    } else {
        complain(context, "nothing can be assigned to this");
    }
}

static struct value evaluate_step(struct context *context, struct scope *scope, struct node *node)
{
    double before = number_of(context, evaluate(context, scope, node->first));
    assign(context, scope, node->first, number_value(before + node->number));
    return number_value(before);
}

static struct value make_array(struct context *context, struct scope *scope, struct node *elements)
{
    struct object *array = new_object(context, ARRAY);
    for (; elements != NULL; elements = elements->next)
        append(context, array, evaluate(context, scope, elements));
    return object_value(array);
}

static struct value make_object(struct context *context, struct scope *scope, struct node *members)
{
    struct object *object = new_object(context, PLAIN);
    for (; members != NULL; members = members->next)
        set_property(context, object, members->name, evaluate(context, scope, members->first));
    return object_value(object);
}

static struct value make_function(struct context *context, struct scope *scope, struct node *node)
{
    struct object *function = new_object(context, FUNCTION);
    function->function = node;
    function->scope = scope;
    return object_value(function);
}

static struct value evaluate_binary(struct context *context, struct scope *scope, struct node *node)
{
    struct value left = evaluate(context, scope, node->first);
    struct value right = evaluate(context, scope, node->second);
    return context->failed ? undefined() : operate(context, node->operation, left, right);
}

static struct value evaluate_logic(struct context *context, struct scope *scope, struct node *node)
{
    struct value left = evaluate(context, scope, node->first);
    return is_true(left) == (node->kind == N_AND) ? evaluate(context, scope, node->second) : left;
}

static struct value evaluate(struct context *context, struct scope *scope, struct node *node)
{
    struct value value;
    if (context->failed)
        return undefined();
    switch (node->kind) {
    case N_NUMBER: return number_value(node->number);
    case N_TEXT: return string_value(node->text);
    case N_NAME: return get_variable(context, scope, node->name);
    case N_ARRAY: return make_array(context, scope, node->first);
    case N_OBJECT: return make_object(context, scope, node->first);
    case N_FUNCTION: return make_function(context, scope, node);
    case N_MEMBER: return get_member(context, evaluate(context, scope, node->first), node->name);
    case N_INDEX:
        value = evaluate(context, scope, node->first);
        return get_index(context, value, evaluate(context, scope, node->second));
    case N_CALL: return evaluate_call(context, scope, node);
    case N_ASSIGN:
        value = evaluate(context, scope, node->second);
        assign(context, scope, node->first, value);
        return value;
    case N_BINARY: return evaluate_binary(context, scope, node);
    case N_AND:
    case N_OR: return evaluate_logic(context, scope, node);
    case N_NOT: return boolean_value(!is_true(evaluate(context, scope, node->first)));
    case N_MINUS: return number_value(-number_of(context, evaluate(context, scope, node->first)));
    case N_STEP: return evaluate_step(context, scope, node);
    default: complain(context, "this statement has no value"); return undefined();
    }
}
