// From text to tokens.

enum token { END, NAME, NUMERAL, TEXT, SYMBOL, KEYWORD };

struct lexer {
    struct context *context;
    const char *at;
    enum token token;
    char symbol[4];
    struct atom *name;
    struct string *text;
    double number;
};

static const char *keywords[] = { "var", "function", "return", "if", "else", "while", "for", "break", "continue", "new" };

static void skip_blanks(struct lexer *lexer)
{
    for (;;) {
        while (isspace((unsigned char)*lexer->at))
            lexer->at++;
        if (lexer->at[0] != '/' || lexer->at[1] != '/')
            return;
        while (*lexer->at != '\0' && *lexer->at != '\n')
            lexer->at++;
    }
}

static int is_keyword(const char *text, int length)
{
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if ((int)strlen(keywords[i]) == length && memcmp(keywords[i], text, length) == 0)
            return 1;
    return 0;
}

static void lex_name(struct lexer *lexer)
{
    const char *begin = lexer->at;
    while (isalnum((unsigned char)*lexer->at) || *lexer->at == '_')
        lexer->at++;
    int length = (int)(lexer->at - begin);
    lexer->token = is_keyword(begin, length) ? KEYWORD : NAME;
    lexer->name = atomize(&runtime.atoms, begin, length);
}

static void lex_number(struct lexer *lexer)
{
    char *end;
    lexer->token = NUMERAL;
    lexer->number = strtod(lexer->at, &end);
    lexer->at = end;
}

static void lex_text(struct lexer *lexer)
{
    char quote = *lexer->at++;
    const char *begin = lexer->at;
    while (*lexer->at != '\0' && *lexer->at != quote)
        lexer->at++;
    lexer->token = TEXT;
    lexer->text = string_of(lexer->context, begin, (int)(lexer->at - begin));
    if (*lexer->at == quote)
        lexer->at++;
    else
        complain(lexer->context, "a quotation mark is missing");
}

static void lex_symbol(struct lexer *lexer)
{
    static const char *pairs[] = { "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "++", "--" };
    int length = 1;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strncmp(lexer->at, pairs[i], 2) == 0)
            length = 2;
    lexer->token = SYMBOL;
    memcpy(lexer->symbol, lexer->at, length);
    lexer->symbol[length] = '\0';
    lexer->at += length;
}

/// Goes on to the next token.
static void advance(struct lexer *lexer)
{
    skip_blanks(lexer);
    char next = *lexer->at;
    if (next == '\0')
        lexer->token = END;
    else if (isalpha((unsigned char)next) || next == '_')
        lex_name(lexer);
    else if (isdigit((unsigned char)next))
        lex_number(lexer);
    else if (next == '"' || next == '\'')
        lex_text(lexer);
    else
        lex_symbol(lexer);
}

static int is_symbol(const struct lexer *lexer, const char *symbol)
{
    return lexer->token == SYMBOL && strcmp(lexer->symbol, symbol) == 0;
}

static int is_word(const struct lexer *lexer, const char *keyword)
{
    return lexer->token == KEYWORD && strcmp(lexer->name->text, keyword) == 0;
}

static int accept(struct lexer *lexer, const char *symbol)
{
    if (!is_symbol(lexer, symbol))
        return 0;
    advance(lexer);
    return 1;
}

static int accept_word(struct lexer *lexer, const char *keyword)
{
    if (!is_word(lexer, keyword))
        return 0;
    advance(lexer);
    return 1;
}

static void expect(struct lexer *lexer, const char *symbol)
{
    if (!accept(lexer, symbol) && !lexer->context->failed) {
        fprintf(stderr, "script: \"%s\" is missing before \"%.20s\"\n", symbol, lexer->at);
        lexer->context->failed = 1;
    }
}

static struct atom *expect_name(struct lexer *lexer)
{
    struct atom *name = lexer->name;
    if (lexer->token != NAME)
        complain(lexer->context, "a name is missing");
    advance(lexer);
    return name;
}
