// Parsing of statements.

static struct node *parse_statement(struct lexer *lexer);

static struct node *parse_block(struct lexer *lexer)
{
    struct node *block = new_node(lexer, N_BLOCK);
    struct node **end = &block->body;
    expect(lexer, "{");
    while (!is_symbol(lexer, "}") && lexer->token != END && !lexer->context->failed) {
        *end = parse_statement(lexer);
        end = &(*end)->next;
    }
    expect(lexer, "}");
    return block;
}

static struct node *parse_var(struct lexer *lexer)
{
    struct node *node = name_node(lexer, N_VAR, expect_name(lexer));
    if (accept(lexer, "="))
        node->first = parse_expression(lexer);
    return node;
}

static struct node *parse_if(struct lexer *lexer)
{
    struct node *node = new_node(lexer, N_IF);
    expect(lexer, "(");
    node->first = parse_expression(lexer);
    expect(lexer, ")");
    node->second = parse_statement(lexer);
    if (accept_word(lexer, "else"))
        node->third = parse_statement(lexer);
    return node;
}

static struct node *parse_while(struct lexer *lexer)
{
    struct node *node = new_node(lexer, N_WHILE);
    expect(lexer, "(");
    node->first = parse_expression(lexer);
    expect(lexer, ")");
    node->body = parse_statement(lexer);
    return node;
}

static struct node *parse_for(struct lexer *lexer)
{
    struct node *node = new_node(lexer, N_FOR);
    expect(lexer, "(");
    node->first = accept_word(lexer, "var") ? parse_var(lexer) : parse_expression(lexer);
    expect(lexer, ";");
    node->second = parse_expression(lexer);
    expect(lexer, ";");
    node->third = parse_expression(lexer);
    expect(lexer, ")");
    node->body = parse_statement(lexer);
    return node;
}

/// `function name(...) {...}` is a variable that holds the function.
static struct node *parse_definition(struct lexer *lexer)
{
    struct node *function = parse_function(lexer);
    struct node *node = name_node(lexer, N_VAR, function->name);
    node->first = function;
    if (function->name == NULL)
        complain(lexer->context, "a function that stands alone needs a name");
    return node;
}

static struct node *parse_return(struct lexer *lexer)
{
    struct node *node = new_node(lexer, N_RETURN);
    if (!is_symbol(lexer, ";"))
        node->first = parse_expression(lexer);
    return node;
}

static struct node *parse_simple(struct lexer *lexer)
{
    struct node *node;
    if (accept_word(lexer, "var"))
        node = parse_var(lexer);
    else if (accept_word(lexer, "return"))
        node = parse_return(lexer);
    else if (accept_word(lexer, "break"))
        node = new_node(lexer, N_BREAK);
    else if (accept_word(lexer, "continue"))
        node = new_node(lexer, N_CONTINUE);
    else
        node = pair_node(lexer, N_EXPRESSION, parse_expression(lexer), NULL);
    expect(lexer, ";");
    return node;
}

static struct node *parse_statement(struct lexer *lexer)
{
    if (is_symbol(lexer, "{"))
        return parse_block(lexer);
    if (accept_word(lexer, "if"))
        return parse_if(lexer);
    if (accept_word(lexer, "while"))
        return parse_while(lexer);
    if (accept_word(lexer, "for"))
        return parse_for(lexer);
    if (accept_word(lexer, "function"))
        return parse_definition(lexer);
    return parse_simple(lexer);
}

static struct node *parse_script(struct context *context, const char *text)
{
    struct lexer lexer = { context, text, END, "", NULL, NULL, 0.0 };
    struct node *script = allocate(context, sizeof *script);
    script->kind = N_BLOCK;
    struct node **end = &script->body;
    advance(&lexer);
    while (lexer.token != END && !context->failed) {
        *end = parse_statement(&lexer);
        end = &(*end)->next;
    }
    return script;
}
