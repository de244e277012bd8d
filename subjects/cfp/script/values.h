// Values, and strings among them.

struct string {
    int length;
    char text[];
};

enum kind { UNDEFINED, BOOLEAN, NUMBER, STRING, OBJECT };

struct value {
    enum kind kind;
    union {
        double number; // of booleans, too
        struct string *string;
        struct object *object;
    } as;
};

static struct value undefined(void)
{
    struct value value = { UNDEFINED, { 0.0 } };
    return value;
}

static struct value number_value(double number)
{
    struct value value = { NUMBER, { number } };
    return value;
}

static struct value boolean_value(int truth)
{
    struct value value = { BOOLEAN, { truth ? 1.0 : 0.0 } };
    return value;
}

static struct value string_value(struct string *string)
{
    struct value value = { STRING, { 0.0 } };
    value.as.string = string;
    return value;
}

static struct value object_value(struct object *object)
{
    struct value value = { OBJECT, { 0.0 } };
    value.as.object = object;
    return value;
}

/// Room for a string of this length; the text is written by the caller.
static struct string *new_string(struct context *context, int length)
{
    struct string *string = allocate(context, sizeof *string + length + 1);
    string->length = length;
    runtime.collector.strings++;
    return string;
}

static struct string *string_of(struct context *context, const char *text, int length)
{
    struct string *string = new_string(context, length);
    memcpy(string->text, text, length);
    return string;
}

static struct string *joined(struct context *context, const struct string *one, const struct string *other)
{
    struct string *string = new_string(context, one->length + other->length);
    memcpy(string->text, one->text, one->length);
    memcpy(string->text + one->length, other->text, other->length);
    return string;
}

static int same_string(const struct string *one, const struct string *other)
{
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

static struct string *numeral(struct context *context, double number)
{
    char text[40];
    int length = snprintf(text, sizeof text, number == (long)number ? "%.0f" : "%.10g", number);
    return string_of(context, text, length);
}

static int is_true(struct value value)
{
    switch (value.kind) {
    case UNDEFINED: return 0;
    case STRING: return value.as.string->length > 0;
    case OBJECT: return 1;
    default: return value.as.number != 0.0;
    }
}

static double number_of(struct context *context, struct value value)
{
    switch (value.kind) {
    case BOOLEAN:
    case NUMBER: return value.as.number;
    case STRING: return strtod(value.as.string->text, NULL);
    default: complain(context, "this is not a number"); return 0.0;
    }
}
