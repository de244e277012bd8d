/* Two threads that share an LMDB environment: each puts and deletes some keys in transactions of its own, and reads in between. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lmdb.h"

enum { ROUNDS = 3 };

static MDB_env *env;
static MDB_dbi dbi;

static void must(int error) {
    if (error) {
        fprintf(stderr, "%s\n", mdb_strerror(error));
        exit(1);
    }
}

static void *work(void *name) {
    for (int i = 0; i < ROUNDS; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s%d", (char *)name, i);
        MDB_val key = {strlen(text), text}, data = key, found;
        MDB_txn *txn;
        must(mdb_txn_begin(env, NULL, 0, &txn));
        must(mdb_put(txn, dbi, &key, &data, MDB_NOOVERWRITE));
        must(mdb_txn_commit(txn));
        must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
        must(mdb_get(txn, dbi, &key, &found));
        assert(found.mv_size == data.mv_size && !memcmp(found.mv_data, text, found.mv_size));
        mdb_txn_abort(txn);
        if (i % 2) {
            must(mdb_txn_begin(env, NULL, 0, &txn));
            must(mdb_del(txn, dbi, &key, NULL));
            must(mdb_txn_commit(txn));
        }
    }
    return NULL;
}

int main(void) {
    pthread_t one, other;
    MDB_txn *txn;
    MDB_stat state;
    mkdir("db", 0755);
    unlink("db/data.mdb");
    unlink("db/lock.mdb");
    must(mdb_env_create(&env));
    must(mdb_env_set_mapsize(env, 1 << 20));
    must(mdb_env_open(env, "db", 0, 0664));
    must(mdb_txn_begin(env, NULL, 0, &txn));
    must(mdb_dbi_open(txn, NULL, 0, &dbi));
    must(mdb_txn_commit(txn));
    pthread_create(&one, NULL, work, "one");
    pthread_create(&other, NULL, work, "other");
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    must(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn));
    must(mdb_stat(txn, dbi, &state));
    assert(state.ms_entries == 2 * (ROUNDS - ROUNDS / 2));
    mdb_txn_abort(txn);
    mdb_dbi_close(env, dbi);
    mdb_env_close(env);
}
