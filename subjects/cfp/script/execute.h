// Statements are executed.

/// How a statement ended: on to the next one, or out of a loop or a function.
enum way { ONWARD, BROKEN, CONTINUED, RETURNED };

static enum way execute(struct context *context, struct scope *scope, struct node *node, struct value *result);

static enum way execute_list(struct context *context, struct scope *scope, struct node *list, struct value *result)
{
    for (; list != NULL && !context->failed; list = list->next) {
        enum way way = execute(context, scope, list, result);
        if (way != ONWARD)
            return way;
    }
    return ONWARD;
}

static enum way execute_if(struct context *context, struct scope *scope, struct node *node, struct value *result)
{
    if (is_true(evaluate(context, scope, node->first)))
        return execute(context, scope, node->second, result);
    return node->third == NULL ? ONWARD : execute(context, scope, node->third, result);
}

static enum way execute_while(struct context *context, struct scope *scope, struct node *node, struct value *result)
{
    while (is_true(evaluate(context, scope, node->first)) && !context->failed) {
        enum way way = execute(context, scope, node->body, result);
        if (way == RETURNED)
            return way;
        if (way == BROKEN)
            break;
    }
    return ONWARD;
}

static enum way execute_for(struct context *context, struct scope *scope, struct node *node, struct value *result)
{
    if (node->first->kind == N_VAR)
        execute(context, scope, node->first, result);
    else
        evaluate(context, scope, node->first);
    for (; is_true(evaluate(context, scope, node->second)) && !context->failed; evaluate(context, scope, node->third)) {
        enum way way = execute(context, scope, node->body, result);
        if (way == RETURNED)
            return way;
        if (way == BROKEN)
            break;
    }
    return ONWARD;
}

static enum way execute(struct context *context, struct scope *scope, struct node *node, struct value *result)
{
    switch (node->kind) {
    case N_VAR:
        declare(context, scope, node->name, node->first == NULL ? undefined() : evaluate(context, scope, node->first));
        return ONWARD;
    case N_BLOCK: return execute_list(context, scope, node->body, result);
    case N_IF: return execute_if(context, scope, node, result);
    case N_WHILE: return execute_while(context, scope, node, result);
    case N_FOR: return execute_for(context, scope, node, result);
    case N_RETURN:
        *result = node->first == NULL ? undefined() : evaluate(context, scope, node->first);
        return RETURNED;
    case N_BREAK: return BROKEN;
    case N_CONTINUE: return CONTINUED;
    default: evaluate(context, scope, node->first); return ONWARD;
    }
}

static struct value run_body(struct context *context, struct scope *scope, struct node *body)
{
    struct value result = undefined();
    execute(context, scope, body, &result);
    return result;
}
