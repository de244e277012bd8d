// What operators do to values, and values as text.

static struct string *text_of(struct context *context, struct value value);

/// Elements with something between them.
static struct string *joined_elements(struct context *context, struct object *array, const struct string *between)
{
    struct string *text = new_string(context, 0);
    if (++context->depth > 50) {
        complain(context, "this array is nested too deeply");
        return text;
    }
    for (int i = 0; i < array->length && !context->failed; i++) {
        if (i > 0)
            text = joined(context, text, between);
        text = joined(context, text, text_of(context, array->elements[i]));
    }
    context->depth--;
    return text;
}

static struct string *text_of(struct context *context, struct value value)
{
    switch (value.kind) {
    case UNDEFINED: return string_of(context, "undefined", 9);
    case BOOLEAN: return value.as.number != 0.0 ? string_of(context, "true", 4) : string_of(context, "false", 5);
    case NUMBER: return numeral(context, value.as.number);
    case STRING: return value.as.string;
    default: break;
    }
    if (value.as.object->class == ARRAY)
        return joined_elements(context, value.as.object, string_of(context, ",", 1));
    return value.as.object->class == PLAIN ? string_of(context, "[object]", 8) : string_of(context, "[function]", 10);
}

static int are_equal(struct value left, struct value right)
{
    if (left.kind != right.kind)
        return 0;
    switch (left.kind) {
    case UNDEFINED: return 1;
    case STRING: return same_string(left.as.string, right.as.string);
    case OBJECT: return left.as.object == right.as.object;
    default: return left.as.number == right.as.number;
    }
}

/// Less than 0, 0 or more, as the left comes before, with or after the right.
static double compare(struct context *context, struct value left, struct value right)
{
    if (left.kind == STRING && right.kind == STRING)
        return strcmp(left.as.string->text, right.as.string->text);
    return number_of(context, left) - number_of(context, right);
}

static struct value add_values(struct context *context, struct value left, struct value right)
{
    if (left.kind == STRING || right.kind == STRING)
        return string_value(joined(context, text_of(context, left), text_of(context, right)));
    return number_value(number_of(context, left) + number_of(context, right));
}

static double remainder_of(double left, double right)
{
    return right == 0.0 ? 0.0 : left - right * (double)(long)(left / right);
}

static struct value calculate(struct context *context, enum operation operation, double left, double right)
{
    switch (operation) {
    case SUBTRACT: return number_value(left - right);
    case MULTIPLY: return number_value(left * right);
    case DIVIDE: return number_value(left / right);
    case REMAINDER: return number_value(remainder_of(left, right));
    default: complain(context, "this operator does not calculate"); return undefined();
    }
}

static struct value operate(struct context *context, enum operation operation, struct value left, struct value right)
{
    switch (operation) {
    case ADD: return add_values(context, left, right);
    case EQUAL: return boolean_value(are_equal(left, right));
    case UNEQUAL: return boolean_value(!are_equal(left, right));
    case LESS: return boolean_value(compare(context, left, right) < 0);
    case MORE: return boolean_value(compare(context, left, right) > 0);
    case AT_MOST: return boolean_value(compare(context, left, right) <= 0);
    case AT_LEAST: return boolean_value(compare(context, left, right) >= 0);
    default: return calculate(context, operation, number_of(context, left), number_of(context, right));
    }
}
