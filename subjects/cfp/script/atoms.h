// The table of atoms: one copy of each name, so that names can be compared by address.

#define ATOM_BUCKETS 128

struct atom {
    struct atom *next;
    int length;
    char text[];
};

enum standard_atom { ATOM_LENGTH, ATOM_ARGUMENTS, ATOM_THIS, ATOM_TRUE, ATOM_FALSE, ATOM_UNDEFINED };

static unsigned hash_text(const char *text, int length)
{
    unsigned hash = 5381;
    for (int i = 0; i < length; i++)
        hash = hash * 33 + (unsigned char)text[i];
    return hash;
}

static int is_atom(const struct atom *atom, const char *text, int length)
{
    return atom->length == length && memcmp(atom->text, text, length) == 0;
}

static struct atom *find_atom(struct atom *chain, const char *text, int length)
{
    while (chain != NULL && !is_atom(chain, text, length))
        chain = chain->next;
    return chain;
}

static struct atom *add_atom(struct atom_state *state, unsigned bucket, const char *text, int length)
{
    struct atom *atom = malloc(sizeof *atom + length + 1);
    if (atom == NULL)
        give_up("there is not enough memory for names", "");
    atom->length = length;
    memcpy(atom->text, text, length);
    atom->text[length] = '\0';
    atom->next = state->table[bucket];
    state->table[bucket] = atom;
    state->count++;
    return atom;
}

/// The one copy of a name, made if there is none yet.
static struct atom *atomize(struct atom_state *state, const char *text, int length)
{
    struct atom *hint = state->last;
    if (hint != NULL && is_atom(hint, text, length))
        return hint;
    unsigned bucket = hash_text(text, length) % ATOM_BUCKETS;
    pthread_mutex_lock(&runtime.atoms_mutex);
    assert(state->table != NULL && "there is an atom table");
    struct atom *atom = find_atom(state->table[bucket], text, length);
    if (atom == NULL)
        atom = add_atom(state, bucket, text, length);
    pthread_mutex_unlock(&runtime.atoms_mutex);
    state->last = atom;
    return atom;
}

static struct atom *atom_of(const char *name)
{
    return atomize(&runtime.atoms, name, (int)strlen(name));
}

static struct atom *standard_atom(enum standard_atom which)
{
    struct atom *atom = runtime.atoms.standard[which];
    assert(atom != NULL && "the standard names are there");
    return atom;
}

/// Makes the table, for the first context.
static int init_atom_state(struct atom_state *state)
{
    static const char *names[STANDARD_ATOMS] = { "length", "arguments", "this", "true", "false", "undefined" };
    state->table = calloc(ATOM_BUCKETS, sizeof *state->table);
    if (state->table == NULL)
        return 0;
    for (int i = 0; i < STANDARD_ATOMS; i++)
        state->standard[i] = atomize(state, names[i], (int)strlen(names[i]));
    return 1;
}

static void free_chain(struct atom *chain)
{
    while (chain != NULL) {
        struct atom *next = chain->next;
        free(chain);
        chain = next;
    }
}

/// Frees the table, after the last context.
static void free_atom_state(struct atom_state *state)
{
    struct atom **table = state->table;
    state->table = NULL;
    state->last = NULL;
    state->count = 0;
    for (int i = 0; i < STANDARD_ATOMS; i++)
        state->standard[i] = NULL;
    for (int i = 0; i < ATOM_BUCKETS; i++)
        free_chain(table[i]);
    free(table);
}
