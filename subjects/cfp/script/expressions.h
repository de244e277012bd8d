// Parsing of expressions, from the loosest operator to the tightest.

static struct node *parse_expression(struct lexer *lexer);
static struct node *parse_block(struct lexer *lexer);

/// Expressions up to a closing symbol, separated by commas.
static struct node *parse_list(struct lexer *lexer, const char *closing)
{
    struct node *list = NULL, **end = &list;
    while (!is_symbol(lexer, closing) && !lexer->context->failed) {
        *end = parse_expression(lexer);
        end = &(*end)->next;
        if (!accept(lexer, ","))
            break;
    }
    expect(lexer, closing);
    return list;
}

static struct node *parse_function(struct lexer *lexer)
{
    struct node *function = new_node(lexer, N_FUNCTION);
    struct node **end = &function->first;
    if (lexer->token == NAME)
        function->name = expect_name(lexer);
    expect(lexer, "(");
    while (lexer->token == NAME) {
        *end = name_node(lexer, N_NAME, expect_name(lexer));
        end = &(*end)->next;
        if (!accept(lexer, ","))
            break;
    }
    expect(lexer, ")");
    function->body = parse_block(lexer);
    return function;
}

/// `{ name: value, ... }`
static struct node *parse_object(struct lexer *lexer)
{
    struct node *object = new_node(lexer, N_OBJECT);
    struct node **end = &object->first;
    while (!is_symbol(lexer, "}") && !lexer->context->failed) {
        struct node *member = name_node(lexer, N_MEMBER, expect_name(lexer));
        expect(lexer, ":");
        member->first = parse_expression(lexer);
        *end = member;
        end = &member->next;
        if (!accept(lexer, ","))
            break;
    }
    expect(lexer, "}");
    return object;
}

static struct node *parse_primary(struct lexer *lexer)
{
    struct node *node = NULL;
    if (lexer->token == NUMERAL) {
        node = number_node(lexer, lexer->number);
        advance(lexer);
    } else if (lexer->token == TEXT) {
        node = new_node(lexer, N_TEXT);
        node->text = lexer->text;
        advance(lexer);
    } else if (lexer->token == NAME) {
        node = name_node(lexer, N_NAME, expect_name(lexer));
    } else if (accept(lexer, "(")) {
        node = parse_expression(lexer);
        expect(lexer, ")");
    } else if (accept(lexer, "[")) {
        node = pair_node(lexer, N_ARRAY, parse_list(lexer, "]"), NULL);
    } else if (accept(lexer, "{")) {
        node = parse_object(lexer);
    } else if (accept_word(lexer, "function")) {
        node = parse_function(lexer);
    } else {
        complain(lexer->context, "an expression is missing");
        node = number_node(lexer, 0.0);
        advance(lexer);
    }
    return node;
}

/// What follows a primary: members, indices, calls, and steps.
static struct node *parse_postfix(struct lexer *lexer)
{
    struct node *node = parse_primary(lexer);
    for (;;) {
        if (accept(lexer, ".")) {
            struct node *object = node;
            node = name_node(lexer, N_MEMBER, expect_name(lexer));
            node->first = object;
        } else if (accept(lexer, "[")) {
            node = pair_node(lexer, N_INDEX, node, parse_expression(lexer));
            expect(lexer, "]");
        } else if (accept(lexer, "(")) {
            node = pair_node(lexer, N_CALL, node, parse_list(lexer, ")"));
        } else if (is_symbol(lexer, "++") || is_symbol(lexer, "--")) {
            node = pair_node(lexer, N_STEP, node, NULL);
            node->number = is_symbol(lexer, "++") ? 1.0 : -1.0;
            advance(lexer);
        } else {
            return node;
        }
    }
}

static struct node *parse_unary(struct lexer *lexer)
{
    if (accept(lexer, "!"))
        return pair_node(lexer, N_NOT, parse_unary(lexer), NULL);
    if (accept(lexer, "-"))
        return pair_node(lexer, N_MINUS, parse_unary(lexer), NULL);
    return parse_postfix(lexer);
}

static struct node *parse_product(struct lexer *lexer)
{
    struct node *node = parse_unary(lexer);
    for (;;) {
        if (accept(lexer, "*"))
            node = binary_node(lexer, MULTIPLY, node, parse_unary(lexer));
        else if (accept(lexer, "/"))
            node = binary_node(lexer, DIVIDE, node, parse_unary(lexer));
        else if (accept(lexer, "%"))
            node = binary_node(lexer, REMAINDER, node, parse_unary(lexer));
        else
            return node;
    }
}

static struct node *parse_sum(struct lexer *lexer)
{
    struct node *node = parse_product(lexer);
    for (;;) {
        if (accept(lexer, "+"))
            node = binary_node(lexer, ADD, node, parse_product(lexer));
        else if (accept(lexer, "-"))
            node = binary_node(lexer, SUBTRACT, node, parse_product(lexer));
        else
            return node;
    }
}

static struct node *parse_comparison(struct lexer *lexer)
{
    static const struct { const char *symbol; enum operation operation; } comparisons[] = {
        { "==", EQUAL }, { "!=", UNEQUAL }, { "<", LESS }, { ">", MORE }, { "<=", AT_MOST }, { ">=", AT_LEAST }
    };
    struct node *node = parse_sum(lexer);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (accept(lexer, comparisons[i].symbol))
            return binary_node(lexer, comparisons[i].operation, node, parse_sum(lexer));
    return node;
}

static struct node *parse_logic(struct lexer *lexer)
{
    struct node *node = parse_comparison(lexer);
    for (;;) {
        if (accept(lexer, "&&"))
            node = pair_node(lexer, N_AND, node, parse_comparison(lexer));
        else if (accept(lexer, "||"))
            node = pair_node(lexer, N_OR, node, parse_comparison(lexer));
        else
            return node;
    }
}

static struct node *parse_expression(struct lexer *lexer)
{
    struct node *node = parse_logic(lexer);
    if (accept(lexer, "="))
        return pair_node(lexer, N_ASSIGN, node, parse_expression(lexer));
    if (accept(lexer, "+="))
        return pair_node(lexer, N_ASSIGN, node, binary_node(lexer, ADD, node, parse_expression(lexer)));
    if (accept(lexer, "-="))
        return pair_node(lexer, N_ASSIGN, node, binary_node(lexer, SUBTRACT, node, parse_expression(lexer)));
    return node;
}
