// Methods of numbers, and the functions of Math.

static double argument_number(struct context *context, struct value *arguments, int count, int which, double otherwise)
{
    return which < count ? number_of(context, arguments[which]) : otherwise;
}

static double whole(double number)
{
    double cut = (double)(long)number;
    return cut > number ? cut - 1 : cut;
}

static struct value math_floor(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    return number_value(whole(argument_number(context, arguments, count, 0, 0)));
}

static struct value math_ceil(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    return number_value(-whole(-argument_number(context, arguments, count, 0, 0)));
}

static struct value math_abs(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    double number = argument_number(context, arguments, count, 0, 0);
    return number_value(number < 0 ? -number : number);
}

static struct value math_max(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    double most = argument_number(context, arguments, count, 0, 0);
    for (int i = 1; i < count; i++)
        if (number_of(context, arguments[i]) > most)
            most = number_of(context, arguments[i]);
    return number_value(most);
}

static struct value math_min(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    double least = argument_number(context, arguments, count, 0, 0);
    for (int i = 1; i < count; i++)
        if (number_of(context, arguments[i]) < least)
            least = number_of(context, arguments[i]);
    return number_value(least);
}

/// Heron's rule.
static double square_root(double number)
{
    double root = number > 1 ? number : 1;
    for (int i = 0; i < 60 && number > 0; i++)
        root = (root + number / root) / 2;
    return number > 0 ? root : 0;
}

static struct value math_sqrt(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    return number_value(square_root(argument_number(context, arguments, count, 0, 0)));
}

static struct value math_pow(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    double base = argument_number(context, arguments, count, 0, 0), power = 1;
    for (int i = 0; i < (int)argument_number(context, arguments, count, 1, 1); i++)
        power *= base;
    return number_value(power);
}

/// The same numbers in each context.
static struct value math_random(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self, (void)arguments, (void)count;
    context->random = context->random * 1103515245u + 12345u;
    return number_value((context->random >> 8) / 16777216.0);
}

static struct value number_to_string(struct context *context, struct value self, struct value *arguments, int count)
{
    char digits[72];
    int at = sizeof digits, radix = (int)argument_number(context, arguments, count, 0, 10);
    long number = (long)number_of(context, self);
    if (radix < 2 || radix > 36 || number < 0)
        return string_value(text_of(context, self));
    do {
        digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % radix];
        number /= radix;
    } while (number > 0);
    return string_value(string_of(context, digits + at, (int)sizeof digits - at));
}

static struct value number_to_fixed(struct context *context, struct value self, struct value *arguments, int count)
{
    char text[64];
    int places = (int)argument_number(context, arguments, count, 0, 0);
    int length = snprintf(text, sizeof text, "%.*f", places < 0 || places > 20 ? 0 : places, number_of(context, self));
    return string_value(string_of(context, text, length < 63 ? length : 63));
}

static struct value parse_int(struct context *context, struct value self, struct value *arguments, int count)
{
    (void)self;
    if (count == 0)
        return undefined();
    return number_value(strtol(text_of(context, arguments[0])->text, NULL,
                               (int)argument_number(context, arguments, count, 1, 10)));
}

static void define_numbers(struct context *context)
{
    struct object *math = new_object(context, PLAIN);
    define(context, math, "floor", math_floor);
    define(context, math, "ceil", math_ceil);
    define(context, math, "abs", math_abs);
    define(context, math, "max", math_max);
    define(context, math, "min", math_min);
    define(context, math, "sqrt", math_sqrt);
    define(context, math, "pow", math_pow);
    define(context, math, "random", math_random);
    set_property(context, context->global, atom_of("Math"), object_value(math));
    define(context, context->global, "parseInt", parse_int);
    context->number_methods = new_object(context, PLAIN);
    define(context, context->number_methods, "toString", number_to_string);
    define(context, context->number_methods, "toFixed", number_to_fixed);
}
