// Methods of strings.

static struct string *self_string(struct context *context, struct value self)
{
    return text_of(context, self);
}

static struct string *argument_string(struct context *context, struct value *arguments, int count, int which)
{
    return which < count ? text_of(context, arguments[which]) : string_of(context, "", 0);
}

static int within(double index, int length)
{
    return index < 0 ? 0 : index > length ? length : (int)index;
}

static struct value string_char_at(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self);
    int at = within(argument_number(context, arguments, count, 0, 0), string->length);
    return string_value(string_of(context, string->text + at, at < string->length));
}

static struct value string_char_code_at(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self);
    int at = within(argument_number(context, arguments, count, 0, 0), string->length);
    return number_value((unsigned char)string->text[at]);
}

static int position_of(const struct string *string, const struct string *part, int from)
{
    for (int at = from; at + part->length <= string->length; at++)
        if (memcmp(string->text + at, part->text, part->length) == 0)
            return at;
    return -1;
}

static struct value string_index_of(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self);
    int from = within(argument_number(context, arguments, count, 1, 0), string->length);
    return number_value(position_of(string, argument_string(context, arguments, count, 0), from));
}

static struct value string_substring(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self);
    int from = within(argument_number(context, arguments, count, 0, 0), string->length);
    int to = within(argument_number(context, arguments, count, 1, string->length), string->length);
    return string_value(from < to ? string_of(context, string->text + from, to - from) : string_of(context, "", 0));
}

static struct value in_case(struct context *context, struct value self, int (*change)(int))
{
    struct string *string = self_string(context, self);
    struct string *changed = new_string(context, string->length);
    for (int i = 0; i < string->length; i++)
        changed->text[i] = (char)change((unsigned char)string->text[i]);
    return string_value(changed);
}

static struct value string_to_upper(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    return in_case(context, self, toupper);
}

static struct value string_to_lower(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    return in_case(context, self, tolower);
}

static struct value string_split(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self), *between = argument_string(context, arguments, count, 0);
    struct object *parts = new_object(context, ARRAY);
    int begin = 0;
    for (;;) {
        int end = between->length == 0 ? begin + 1 : position_of(string, between, begin);
        if (end < 0 || end >= string->length)
            break;
        append(context, parts, string_value(string_of(context, string->text + begin, end - begin)));
        begin = end + between->length;
    }
    append(context, parts, string_value(string_of(context, string->text + begin, string->length - begin)));
    return object_value(parts);
}

static struct value string_replace(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self), *part = argument_string(context, arguments, count, 0);
    int at = position_of(string, part, 0);
    if (at < 0)
        return string_value(string);
    struct string *before = string_of(context, string->text, at);
    struct string *after = string_of(context, string->text + at + part->length, string->length - at - part->length);
    return string_value(joined(context, joined(context, before, argument_string(context, arguments, count, 1)), after));
}

static struct value string_trim(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)arguments, (void)count;
    struct string *string = self_string(context, self);
    int begin = 0, end = string->length;
    while (begin < end && isspace((unsigned char)string->text[begin]))
        begin++;
    while (end > begin && isspace((unsigned char)string->text[end - 1]))
        end--;
    return string_value(string_of(context, string->text + begin, end - begin));
}

static struct value string_repeat(struct context *context, struct value self, struct value *arguments, int count)
{
    struct string *string = self_string(context, self);
    int times = within(argument_number(context, arguments, count, 0, 1), 1000);
    struct string *repeated = new_string(context, times * string->length);
    for (int i = 0; i < times; i++)
        memcpy(repeated->text + i * string->length, string->text, string->length);
    return string_value(repeated);
}

static struct value string_from_char_code(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    struct string *string = new_string(context, count);
    for (int i = 0; i < count; i++)
        string->text[i] = (char)number_of(context, arguments[i]);
    return string_value(string);
}

static void define_strings(struct context *context)
{
    struct object *methods = new_object(context, PLAIN), *class = new_object(context, PLAIN);
    define(context, methods, "charAt", string_char_at);
    define(context, methods, "charCodeAt", string_char_code_at);
    define(context, methods, "indexOf", string_index_of);
    define(context, methods, "substring", string_substring);
    define(context, methods, "toUpperCase", string_to_upper);
    define(context, methods, "toLowerCase", string_to_lower);
    define(context, methods, "split", string_split);
    define(context, methods, "replace", string_replace);
    define(context, methods, "trim", string_trim);
    define(context, methods, "repeat", string_repeat);
    context->string_methods = methods;
    define(context, class, "fromCharCode", string_from_char_code);
    set_property(context, context->global, atom_of("String"), object_value(class));
}
