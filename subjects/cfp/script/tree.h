// The tree that a script is parsed into.

enum node_kind {
    N_NUMBER, N_TEXT, N_NAME, N_ARRAY, N_OBJECT, N_FUNCTION, N_MEMBER, N_INDEX, N_CALL,
    N_ASSIGN, N_BINARY, N_AND, N_OR, N_NOT, N_MINUS, N_STEP,
    N_VAR, N_EXPRESSION, N_BLOCK, N_IF, N_WHILE, N_FOR, N_RETURN, N_BREAK, N_CONTINUE
};

enum operation { ADD, SUBTRACT, MULTIPLY, DIVIDE, REMAINDER, EQUAL, UNEQUAL, LESS, MORE, AT_MOST, AT_LEAST };

struct node {
    enum node_kind kind;
    enum operation operation;
    struct node *first;
    struct node *second;
    struct node *third;
    struct node *body;
    struct node *next; // in a list
    struct atom *name;
    struct string *text;
    double number;
};

static struct node *new_node(struct lexer *lexer, enum node_kind kind)
{
    struct node *node = allocate(lexer->context, sizeof *node);
    node->kind = kind;
    return node;
}

static struct node *pair_node(struct lexer *lexer, enum node_kind kind, struct node *first, struct node *second)
{
    struct node *node = new_node(lexer, kind);
    node->first = first;
    node->second = second;
    return node;
}

static struct node *binary_node(struct lexer *lexer, enum operation operation, struct node *left, struct node *right)
{
    struct node *node = pair_node(lexer, N_BINARY, left, right);
    node->operation = operation;
    return node;
}

static struct node *number_node(struct lexer *lexer, double number)
{
    struct node *node = new_node(lexer, N_NUMBER);
    node->number = number;
    return node;
}

static struct node *name_node(struct lexer *lexer, enum node_kind kind, struct atom *name)
{
    struct node *node = new_node(lexer, kind);
    node->name = name;
    return node;
}
