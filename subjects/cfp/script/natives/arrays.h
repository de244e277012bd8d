// Methods of arrays, and the keys of objects.

static struct object *self_array(struct context *context, struct value self)
{
    if (self.kind == OBJECT && self.as.object->class == ARRAY)
        return self.as.object;
    complain(context, "this is not an array");
    return new_object(context, ARRAY);
}

static struct value array_push(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self);
    for (int i = 0; i < count; i++)
        append(context, array, arguments[i]);
    return number_value(array->length);
}

static struct value array_pop(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    struct object *array = self_array(context, self);
    return array->length == 0 ? undefined() : array->elements[--array->length];
}

static struct value array_shift(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    struct object *array = self_array(context, self);
    struct value first = element_at(array, 0);
    for (int i = 1; i < array->length; i++)
        array->elements[i - 1] = array->elements[i];
    if (array->length > 0)
        array->length--;
    return first;
}

static struct value array_join(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *between = count > 0 ? text_of(context, arguments[0]) : string_of(context, ",", 1);
    return string_value(joined_elements(context, self_array(context, self), between));
}

static void copy_elements(struct context *context, const struct object *from, int begin, int end, struct object *to)
{
    for (int i = begin; i < end; i++)
        append(context, to, from->elements[i]);
}

static struct value array_slice(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self), *slice = new_object(context, ARRAY);
    int begin = within(argument_number(context, arguments, count, 0, 0), array->length);
    copy_elements(context, array, begin, within(argument_number(context, arguments, count, 1, array->length), array->length),
                  slice);
    return object_value(slice);
}

static struct value array_concat(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self), *whole = new_object(context, ARRAY);
    copy_elements(context, array, 0, array->length, whole);
    for (int i = 0; i < count; i++) {
        struct object *other = self_array(context, arguments[i]);
        copy_elements(context, other, 0, other->length, whole);
    }
    return object_value(whole);
}

static struct value array_reverse(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    struct object *array = self_array(context, self);
    for (int i = 0, j = array->length - 1; i < j; i++, j--) {
        struct value kept = array->elements[i];
        array->elements[i] = array->elements[j];
        array->elements[j] = kept;
    }
    return self;
}

static struct value array_index_of(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self);
    for (int i = 0; i < array->length && count > 0; i++)
        if (are_equal(array->elements[i], arguments[0]))
            return number_value(i);
    return number_value(-1);
}

/// Whether one element comes before another, as the script's function says, or by their own order.
static int comes_before(struct context *context, struct value one, struct value other, struct value *by, int count)
{
    struct value both[2] = { one, other };
    if (count == 0)
        return compare(context, one, other) < 0;
    return number_of(context, call(context, by[0], undefined(), both, 2)) < 0;
}

static struct value array_sort(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self);
    for (int i = 1; i < array->length && !context->failed; i++) {
        struct value moved = array->elements[i];
        int at = i;
        for (; at > 0 && comes_before(context, moved, array->elements[at - 1], arguments, count); at--)
            array->elements[at] = array->elements[at - 1];
        array->elements[at] = moved;
    }
    return self;
}

static struct value array_map(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self), *mapped = new_object(context, ARRAY);
    for (int i = 0; i < array->length && count > 0 && !context->failed; i++)
        append(context, mapped, call(context, arguments[0], undefined(), &array->elements[i], 1));
    return object_value(mapped);
}

static struct value array_filter(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *array = self_array(context, self), *kept = new_object(context, ARRAY);
    for (int i = 0; i < array->length && count > 0 && !context->failed; i++)
        if (is_true(call(context, arguments[0], undefined(), &array->elements[i], 1)))
            append(context, kept, array->elements[i]);
    return object_value(kept);
}

/// The names of an object's members, sorted.
static struct value object_keys(struct context *context, struct value self, struct value *arguments, int count)
{
    struct object *keys = new_object(context, ARRAY);
    if (count == 0 || arguments[0].kind != OBJECT) {
        complain(context, "only objects have keys");
        return undefined();
    }
    (void)self;
    struct object *object = arguments[0].as.object;
    for (int i = 0; i < object->capacity; i++) {
        struct atom *name = object->properties[i].name;
        if (name != NULL)
            append(context, keys, string_value(string_of(context, name->text, name->length)));
    }
    return array_sort(context, object_value(keys), NULL, 0);
}

static void define_arrays(struct context *context)
{
    struct object *methods = new_object(context, PLAIN), *class = new_object(context, PLAIN);
    define(context, methods, "push", array_push);
    define(context, methods, "pop", array_pop);
    define(context, methods, "shift", array_shift);
    define(context, methods, "join", array_join);
    define(context, methods, "slice", array_slice);
    define(context, methods, "concat", array_concat);
    define(context, methods, "reverse", array_reverse);
    define(context, methods, "indexOf", array_index_of);
    define(context, methods, "sort", array_sort);
    define(context, methods, "map", array_map);
    define(context, methods, "filter", array_filter);
    context->array_methods = methods;
    define(context, class, "keys", object_keys);
    set_property(context, context->global, atom_of("Object"), object_value(class));
}
