// Objects: properties by atom, elements by index, and what makes some of them callable.

struct node;
struct scope;

typedef struct value native(struct context *, struct value self, struct value *arguments, int count);

struct property {
    struct atom *name;
    struct value value;
};

enum object_class { PLAIN, ARRAY, FUNCTION, NATIVE };

struct object {
    enum object_class class;
    int count; // of properties
    int capacity;
    struct property *properties;
    int length; // of elements
    int room;
    struct value *elements;
    struct node *function;
    struct scope *scope;
    native *native;
};

static struct object *new_object(struct context *context, enum object_class class)
{
    struct object *object = allocate(context, sizeof *object);
    object->class = class;
    runtime.collector.objects++;
    return object;
}

static unsigned hash_atom(const struct atom *atom)
{
    return (unsigned)((unsigned long)atom >> 4) * 2654435761u >> 8;
}

/// Where a property is, or would be.
static struct property *slot_of(struct property *properties, int capacity, const struct atom *name)
{
    unsigned at = hash_atom(name) % capacity;
    while (properties[at].name != NULL && properties[at].name != name)
        at = (at + 1) % capacity;
    return &properties[at];
}

static void grow_properties(struct context *context, struct object *object)
{
    int capacity = object->capacity == 0 ? 8 : 2 * object->capacity;
    struct property *properties = allocate(context, capacity * sizeof *properties);
    for (int i = 0; i < object->capacity; i++)
        if (object->properties[i].name != NULL)
            *slot_of(properties, capacity, object->properties[i].name) = object->properties[i];
    object->properties = properties;
    object->capacity = capacity;
}

static struct property *find_property(struct object *object, const struct atom *name)
{
    if (object->count == 0)
        return NULL;
    struct property *slot = slot_of(object->properties, object->capacity, name);
    return slot->name == NULL ? NULL : slot;
}

static void set_property(struct context *context, struct object *object, struct atom *name, struct value value)
{
    if (4 * (object->count + 1) > 3 * object->capacity)
        grow_properties(context, object);
    struct property *slot = slot_of(object->properties, object->capacity, name);
    if (slot->name == NULL) {
        slot->name = name;
        object->count++;
    }
    slot->value = value;
}

static void grow_elements(struct context *context, struct object *array, int least)
{
    int room = array->room == 0 ? 8 : 2 * array->room;
    while (room < least)
        room *= 2;
    struct value *elements = allocate(context, room * sizeof *elements);
    if (array->length > 0)
        memcpy(elements, array->elements, array->length * sizeof *elements);
    array->elements = elements;
    array->room = room;
}

static void set_element(struct context *context, struct object *array, int index, struct value value)
{
    if (index < 0 || index > 100000) {
        complain(context, "an array does not go that far");
        return;
    }
    if (index >= array->room)
        grow_elements(context, array, index + 1);
    if (index >= array->length)
        array->length = index + 1;
    array->elements[index] = value;
}

static void append(struct context *context, struct object *array, struct value value)
{
    set_element(context, array, array->length, value);
}

static struct value element_at(const struct object *array, int index)
{
    return index >= 0 && index < array->length ? array->elements[index] : undefined();
}

static struct object *native_object(struct context *context, native *function)
{
    struct object *object = new_object(context, NATIVE);
    object->native = function;
    return object;
}

/// Gives an object a method of the runtime.
static void define(struct context *context, struct object *object, const char *name, native *function)
{
    set_property(context, object, atom_of(name), object_value(native_object(context, function)));
}
