//! What generated programs are made of: a row for each primitive, with what threads do with it.
//!
//! In a statement, `$v` and `$w` stand for shared variables, `$k` and `$n` for small numbers from 1, `$z` for 0 or 1, `$i` for a number
//! up to 3, `$S` for another statement, `$L`, `$O` and `$M` for the memory order of a load, a store, or both, `$T` for how many threads are
//! started. `l` is a variable of the thread's own; what it holds in the end is the thread's result. `h0` is the first thread.

/// A primitive of the language, the library or the system.
#[derive(Clone, Copy)]
pub struct Feature {
    /// What it is called in tables.
    pub name: &'static str,
    /// Only C++ has it.
    pub is_cxx: bool,
    /// What it needs at the beginning of the file.
    pub declarations: &'static str,
    /// What main does before it starts threads.
    pub setup: &'static str,
    /// What threads do: each thread one of a list. Thread n has list n, and they start over.
    pub roles: &'static [&'static [&'static str]],
    /// What can be looked at in the end.
    pub shows: &'static [&'static str],
    /// The source of a library that is compiled without instrumentation.
    pub library: &'static str,
}

const fn feature(name: &'static str, roles: &'static [&'static [&'static str]]) -> Feature {
    Feature { name, is_cxx: false, declarations: "", setup: "", roles, shows: &[], library: "" }
}

impl Feature {
    const fn cxx(self) -> Feature {
        Feature { is_cxx: true, ..self }
    }

    const fn declares(self, declarations: &'static str) -> Feature {
        Feature { declarations, ..self }
    }

    const fn begins(self, setup: &'static str) -> Feature {
        Feature { setup, ..self }
    }

    const fn with_library(self, library: &'static str) -> Feature {
        Feature { library, ..self }
    }

    const fn shows(self, shows: &'static [&'static str]) -> Feature {
        Feature { shows, ..self }
    }
}

/// What every program has: two variables, and statements about them.
pub const PLAIN: &[&str] = &[
    "$v = $k;",
    "$v++;",
    "$v += $k;",
    "$v = $w;",
    "$v = $w + $k;",
    "$v = (int)l + $k;",
    "l = $v;",
    "l += $v;",
    "l = l * 2 + $v;",
    "if ($v == $k) $w = $n;",
    "if ($v) l++;",
    "if ($v == $w) l += 2;",
    "if (l) $v = $k;",
    "if (!$v) { $S }",
    "l = $v == $k ? $w : l;",
    "switch ($v) { case 1: $w = 2; break; case 2: l = 3; }",
];

/// The memory orders that a load may ask for.
pub const LOADS: &[&str] = &["memory_order_relaxed", "memory_order_acquire", "memory_order_seq_cst"];
/// Those of a store.
pub const STORES: &[&str] = &["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"];
/// Those of an operation that is both.
pub const UPDATES: &[&str] = &[
    "memory_order_relaxed",
    "memory_order_acquire",
    "memory_order_release",
    "memory_order_acq_rel",
    "memory_order_seq_cst",
];

/// All of them.
#[rustfmt::skip]
pub const FEATURES: &[Feature] = &[
    // Memory.
    feature("plain accesses", &[PLAIN]),
    feature("volatile", &[&[
        "flag = $k;", "flag++;", "l = flag;", "if (flag == $k) { $S }", "if (!flag) { flag = $k; l++; }",
        "for (int i = 0; i < 2 && !flag; i++) l++;",
    ]]).declares("static volatile int flag;").shows(&["flag"]),
    feature("atomics", &[&[
        "atomic_store_explicit(&a, $k, $O);",
        "l = atomic_load_explicit(&a, $L);",
        "l += atomic_fetch_add_explicit(&a, $k, $M);",
        "l += atomic_exchange_explicit(&b, $k, $M);",
        "{ int seen = $k; if (atomic_compare_exchange_strong_explicit(&a, &seen, $n, $M, memory_order_relaxed)) { $S } else l = seen; }",
        "if (atomic_load_explicit(&a, $L) == $k) { $S }",
        "b = $k; atomic_thread_fence(memory_order_seq_cst); l = a;",
        "$v = $k; atomic_store_explicit(&a, 1, $O);",
        "a |= $k;", "b ^= 1;", "a = a + $k;",
    ]]).declares("#include <stdatomic.h>\nstatic _Atomic int a, b;").shows(&["a", "b"]),
    feature("atomics of other sizes", &[&[
        "tiny--;", "tiny += 255;", "large += 0x100000001;", "l = large >> 32;", "l = tiny;", "pointer = &x;", "pointer = &y;",
        "{ int *mine = pointer; if (mine) *mine = $k; }", "if (pointer == &x) { $S }",
    ]]).declares("#include <stdatomic.h>\nstatic _Atomic unsigned char tiny;\nstatic _Atomic long long large;\nstatic int *_Atomic pointer;")
        .shows(&["tiny", "large"]),
    feature("atomic builtins on plain variables", &[&[
        "__sync_fetch_and_add(&$v, $k);", "l += __atomic_exchange_n(&$v, $k, __ATOMIC_ACQ_REL);",
        "if (__sync_bool_compare_and_swap(&$v, $k, $n)) l++;", "__atomic_store_n(&$v, $k, __ATOMIC_RELEASE);",
        "l = __atomic_load_n(&$v, __ATOMIC_ACQUIRE);", "if (__sync_bool_compare_and_swap(&$v, 0, $n)) { $S }",
    ]]),
    feature("atomic_flag", &[&[
        "if (!atomic_flag_test_and_set(&taken)) { $S atomic_flag_clear(&taken); } else l = 3;",
        "l += atomic_flag_test_and_set(&taken);",
    ]]).declares("#include <stdatomic.h>\nstatic atomic_flag taken = ATOMIC_FLAG_INIT;"),
    feature("spin lock of atomics", &[&[
        "while (atomic_exchange_explicit(&held, 1, memory_order_acquire)) ; $S atomic_store_explicit(&held, 0, memory_order_release);",
    ]]).declares("#include <stdatomic.h>\nstatic _Atomic int held;"),
    feature("spinning until a flag is set", &[
        &["while (!atomic_load_explicit(&go, $L)) ; $S", "while (!atomic_load_explicit(&go, $L)) sched_yield(); l += $v;"],
        &["$S atomic_store_explicit(&go, 1, $O);", "atomic_store_explicit(&go, 1, $O); $S"],
    ]).declares("#include <stdatomic.h>\nstatic _Atomic int go;"),
    feature("accesses of several sizes", &[&[
        "u.c[$i] = $k;", "u.w[$z] = $k;", "u.q = $k * 0x0001000100010001ull;", "l = u.w[$z] & 3;", "l = u.c[$i];", "u.h[1]++;",
        "if (u.q == 0) { $S }", "u.q += 0x100;", "memset(&u, $k, 3);", "l = __atomic_fetch_add(&u.h[0], $k, __ATOMIC_RELAXED);",
        "if (u.h[$z] == $k) { $S }", "u.c[0]++;", "if (u.w[0] == 0x00010001) l++;",
    ]]).declares("static union { unsigned long long q; unsigned w[2]; unsigned short h[4]; unsigned char c[8]; } u;")
        .shows(&["u.c[0]", "u.c[1]", "u.h[1]", "u.w[1]"]),
    feature("unaligned accesses", &[&[
        "packed.number = $k;", "packed.number++;", "l = packed.number;", "packed.end = $k;", "if (packed.number == $k) { $S }",
        "packed.bytes[5] = $k;", "*(volatile char *)((char *)&packed.number + 2) = $k;", "l = packed.number >> 16;",
    ]]).declares("static struct __attribute__((packed, aligned(8))) { char bytes[6]; int number; short end; } packed;")
        .shows(&["packed.number", "packed.number >> 16"]),
    feature("bit-fields", &[&[
        "bits.low = $k;", "bits.high++;", "l = bits.low;", "l = bits.high;", "if (bits.low) { $S }", "if (bits.high == $k) bits.low = $n;",
    ]]).declares("static struct { unsigned low : 2, high : 3; } bits;").shows(&["bits.low", "bits.high"]),
    feature("structures", &[&[
        "one = two;", "two.p = $k;", "{ struct pair mine = one; l = mine.p + mine.q; }", "one = (struct pair){ $k, $n };",
        "one = made($k);", "two = one; two.q++;", "if (one.p != one.q) l = 3;",
    ]]).declares("struct pair { int p, q; };\nstatic struct pair one, two = { 1, 1 };\nstatic struct pair made(int n) { struct pair result = { n, n }; return result; }")
        .shows(&["one.p", "one.q", "two.q"]),
    feature("wide numbers", &[&[
        "real += 1;", "l = (long)real;", "wide++;", "l = (long)(wide >> 64);", "wide += ((__int128)1 << 64) + 1;", "extended += $k;",
        "l = (long)extended;", "if (real > extended) { $S }", "fraction += 0.5f;",
    ]]).declares("static double real;\nstatic __int128 wide;\nstatic long double extended;\nstatic float fraction;")
        .shows(&["(int)real", "(int)wide", "(int)(wide >> 64)", "(int)extended"]),
    feature("indices and pointers", &[&[
        "table[$v & 1] = $k;", "l = table[$v & 1];", "where = &$v;", "if (where) *where = $k;", "if (where) l = *where;",
        "where = &table[$v & 1];", "table[$v & 1]++;", "l = where == &$v;",
    ]]).declares("static int table[2], *where;").shows(&["table[0]", "table[1]"]),
    feature("another thread's stack", &[
        &["{ volatile int mine = $k; place = &mine; $S l = mine; place = 0; }", "{ volatile int mine = 0; place = &mine; $S if (mine) l = mine; place = 0; }"],
        &["{ volatile int *other = place; if (other) *other = $k; }", "if (place) l = *place;"],
    ]).declares("static volatile int *volatile place;"),
    feature("thread-local variables", &[&[
        "own++; l += own;", "{ lent = &own; $S l = own; }", "if (lent) *lent = $k;", "own = $v; if (own == $k) { $S }",
    ]]).declares("static __thread int own;\nstatic int *lent;"),
    feature("function pointers", &[&[
        "act = first;", "act = second;", "act();", "{ void (*mine)(void) = act; if (mine == first) { $S } }",
    ]]).declares("static void first(void) { x++; }\nstatic void second(void) { y++; }\nstatic void (*act)(void) = first;"),
    feature("assembly", &[&[
        "__asm__ volatile(\"incl %0\" : \"+m\"($v));", "__asm__ volatile(\"lock addl $$$k, %0\" : \"+m\"($v) : : \"memory\");",
        "{ int got; __asm__ volatile(\"movl %1, %0\" : \"=r\"(got) : \"m\"($v)); l = got; }", "__asm__ volatile(\"\" : : : \"memory\"); l = $v;",
    ]]),
    feature("uninstrumented function", &[&[
        "unseen($k);", "$v = $k; unseen(1);", "l = looked();",
    ]]).declares("__attribute__((no_sanitize_thread, noinline)) static void unseen(int n) { x += n; }\n__attribute__((no_sanitize_thread, noinline)) static int looked(void) { return y; }"),
    // Locks.
    feature("mutexes", &[&[
        "pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m);", "pthread_mutex_lock(&m); $S $S pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&m); pthread_mutex_lock(&n); $S pthread_mutex_unlock(&n); pthread_mutex_unlock(&m);",
        "pthread_mutex_lock(&n); pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m); pthread_mutex_unlock(&n);",
        "pthread_mutex_lock(&n); $S pthread_mutex_unlock(&n);",
    ]]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;"),
    feature("pthread_mutex_trylock", &[&[
        "if (pthread_mutex_trylock(&m) == 0) { $S pthread_mutex_unlock(&m); } else l = 3;",
        "pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m);",
    ]]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"),
    feature("pthread_mutex_timedlock", &[&[
        "{ struct timespec until = { 1, 0 }; if (pthread_mutex_timedlock(&m, &until) == 0) { $S pthread_mutex_unlock(&m); } else l = 3; }",
        "{ struct timespec until = { 4000000000, 0 }; if (pthread_mutex_timedlock(&m, &until) == 0) { $S pthread_mutex_unlock(&m); } else l = 3; }",
        "pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m);",
    ]]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"),
    feature("kinds of mutexes", &[&[
        "l += pthread_mutex_lock(&careful) != 0; l += pthread_mutex_lock(&careful) != 0; $S pthread_mutex_unlock(&careful);",
        "pthread_mutex_lock(&again); pthread_mutex_lock(&again); $S pthread_mutex_unlock(&again); pthread_mutex_unlock(&again);",
        "l += pthread_mutex_unlock(&careful) != 0;", "pthread_mutex_lock(&again); $S pthread_mutex_unlock(&again);",
    ]]).declares("static pthread_mutex_t careful = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;"),
    feature("robust mutex", &[
        &["pthread_mutex_lock(&robust); $S"],
        &["if (pthread_mutex_lock(&robust) == EOWNERDEAD) { pthread_mutex_consistent(&robust); l = 3; } $S pthread_mutex_unlock(&robust);"],
    ]).declares("static pthread_mutex_t robust;")
        .begins("pthread_mutexattr_t how; pthread_mutexattr_init(&how); pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST); pthread_mutex_init(&robust, &how);"),
    feature("lock left locked", &[
        &["pthread_mutex_lock(&m); $S if ($v != $k) pthread_mutex_unlock(&m);"],
        &["pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m);"],
    ]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"),
    feature("destroyed mutex", &[
        &["pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m);", "if (!$v) { pthread_mutex_lock(&m); $S pthread_mutex_unlock(&m); }"],
        &["$v = $k; pthread_mutex_destroy(&m);", "if ($v) l = pthread_mutex_destroy(&m);"],
    ]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;"),
    feature("mutex initialised by a thread", &[
        &["$v = $k; pthread_mutex_init(&late, 0); $S", "pthread_mutex_init(&late, 0); y++; x = 3;"],
        &["if ($v) { pthread_mutex_lock(&late); $S pthread_mutex_unlock(&late); }", "if (x == 3) { pthread_mutex_lock(&late); l = y; pthread_mutex_unlock(&late); }"],
    ]).declares("static pthread_mutex_t late;"),
    feature("objects in the heap", &[
        &["pthread_mutex_lock(&o->m); $v = $k; pthread_mutex_unlock(&o->m);", "pthread_mutex_lock(&o->m); $S pthread_mutex_unlock(&o->m);", "$v = $k; sem_post(&o->s);"],
        &["if ($v) free(o);", "pthread_mutex_lock(&o->m); pthread_mutex_unlock(&o->m); if ($v) free(o);", "if (sem_trywait(&o->s) == 0) free(o);"],
    ]).declares("static struct object { pthread_mutex_t m; sem_t s; } *o;")
        .begins("o = malloc(sizeof *o); pthread_mutex_init(&o->m, 0); sem_init(&o->s, 0, 0);"),
    feature("pthread_spinlock", &[&[
        "pthread_spin_lock(&spin); $S pthread_spin_unlock(&spin);", "if (pthread_spin_trylock(&spin) == 0) { $S pthread_spin_unlock(&spin); } else l = 3;",
    ]]).declares("static pthread_spinlock_t spin;").begins("pthread_spin_init(&spin, 0);"),
    feature("read-write locks", &[&[
        "pthread_rwlock_rdlock(&rw); l += $v; pthread_rwlock_unlock(&rw);", "pthread_rwlock_wrlock(&rw); $S pthread_rwlock_unlock(&rw);",
        "pthread_rwlock_rdlock(&rw); $S pthread_rwlock_unlock(&rw);", "pthread_rwlock_wrlock(&rw); $S $S pthread_rwlock_unlock(&rw);",
    ]]).declares("static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;"),
    feature("pthread_rwlock_try…", &[&[
        "if (pthread_rwlock_tryrdlock(&rw) == 0) { l += $v; pthread_rwlock_unlock(&rw); } else l = 3;",
        "if (pthread_rwlock_trywrlock(&rw) == 0) { $S pthread_rwlock_unlock(&rw); } else l = 3;",
        "pthread_rwlock_wrlock(&rw); $S pthread_rwlock_unlock(&rw);",
        "{ struct timespec until = { 1, 0 }; if (pthread_rwlock_timedwrlock(&rw, &until) == 0) { $S pthread_rwlock_unlock(&rw); } else l = 2; }",
    ]]).declares("static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;"),
    feature("read-write locks that let writers first", &[
        &["pthread_rwlock_rdlock(&rw); pthread_rwlock_rdlock(&rw); $S pthread_rwlock_unlock(&rw); pthread_rwlock_unlock(&rw);",
          "pthread_rwlock_rdlock(&rw); $S pthread_rwlock_unlock(&rw); l += $v;"],
        &["pthread_rwlock_wrlock(&rw); $S pthread_rwlock_unlock(&rw);", "$S pthread_rwlock_wrlock(&rw); pthread_rwlock_unlock(&rw);"],
    ]).declares("static pthread_rwlock_t rw;")
        .begins("pthread_rwlockattr_t how; pthread_rwlockattr_init(&how); pthread_rwlockattr_setkind_np(&how, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP); pthread_rwlock_init(&rw, &how);"),
    // Waiting for each other.
    feature("condition variables with a loop", &[
        &["pthread_mutex_lock(&cm); while (!ready) pthread_cond_wait(&c, &cm); $S pthread_mutex_unlock(&cm);",
          "pthread_mutex_lock(&cm); while (!ready) pthread_cond_wait(&c, &cm); ready = 0; pthread_mutex_unlock(&cm); $S"],
        &["pthread_mutex_lock(&cm); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&cm); $S",
          "$S pthread_mutex_lock(&cm); ready = 1; pthread_mutex_unlock(&cm); pthread_cond_broadcast(&c);",
          "pthread_mutex_lock(&cm); ready++; $S pthread_mutex_unlock(&cm); pthread_cond_signal(&c);",
          "ready = 1; pthread_cond_signal(&c);"],
    ]).declares("static pthread_mutex_t cm = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int ready;").shows(&["ready"]),
    feature("condition variables without a loop", &[
        &["pthread_mutex_lock(&cm); if (!ready) pthread_cond_wait(&c, &cm); l += ready; ready = 0; pthread_mutex_unlock(&cm);",
          "pthread_mutex_lock(&cm); if (!ready) pthread_cond_wait(&c, &cm); $S pthread_mutex_unlock(&cm);"],
        &["pthread_mutex_lock(&cm); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&cm);",
          "ready = $k; pthread_cond_broadcast(&c);",
          "pthread_mutex_lock(&cm); ready++; pthread_mutex_unlock(&cm); pthread_cond_broadcast(&c);"],
    ]).declares("static pthread_mutex_t cm = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int ready;").shows(&["ready"]),
    feature("pthread_cond_timedwait", &[
        &["{ struct timespec until = { 4000000000, 0 }; pthread_mutex_lock(&cm); if (!ready) l = pthread_cond_timedwait(&c, &cm, &until) != 0; pthread_mutex_unlock(&cm); }",
          "{ struct timespec until = { 1, 0 }; pthread_mutex_lock(&cm); while (!ready && !pthread_cond_timedwait(&c, &cm, &until)) ; l = ready; pthread_mutex_unlock(&cm); }"],
        &["pthread_mutex_lock(&cm); ready = 1; pthread_cond_signal(&c); pthread_mutex_unlock(&cm);"],
    ]).declares("static pthread_mutex_t cm = PTHREAD_MUTEX_INITIALIZER;\nstatic pthread_cond_t c = PTHREAD_COND_INITIALIZER;\nstatic int ready;"),
    feature("semaphores", &[&[
        "sem_wait(&s); $S sem_post(&s);", "sem_wait(&s); l += $v; sem_post(&s);", "$S sem_post(&s); l += $v;", "sem_wait(&s); $S $S sem_post(&s);",
    ]]).declares("static sem_t s;").begins("sem_init(&s, 0, 1);"),
    feature("semaphores between two", &[
        &["sem_wait(&s); $S", "$S sem_wait(&s); l += $v;"],
        &["$S sem_post(&s);", "sem_post(&s); $S", "$S sem_post(&s); sem_post(&s);"],
    ]).declares("static sem_t s;").begins("sem_init(&s, 0, 0);"),
    feature("sem_trywait and its like", &[&[
        "if (sem_trywait(&s) == 0) { $S sem_post(&s); } else l = 3;", "{ int count; sem_getvalue(&s, &count); l += count; }", "sem_post(&s);",
        "{ struct timespec until = { 1, 0 }; if (sem_timedwait(&s, &until) == 0) l++; }",
    ]]).declares("static sem_t s;").begins("sem_init(&s, 0, $z);"),
    feature("barriers", &[&[
        "pthread_barrier_wait(&bar); $S", "$S pthread_barrier_wait(&bar); l += $v;", "$S if (pthread_barrier_wait(&bar)) { $S }",
        "$S pthread_barrier_wait(&bar);",
    ]]).declares("static pthread_barrier_t bar;").begins("pthread_barrier_init(&bar, 0, $T);"),
    feature("pthread_once", &[&[
        "pthread_once(&once, start); $S", "$S pthread_once(&once, start);", "pthread_once(&once, start); l += x;",
    ]]).declares("static pthread_once_t once = PTHREAD_ONCE_INIT;\nstatic void start(void) { x++; if (y) x = 3; }"),
    feature("thread-specific data", &[&[
        "pthread_setspecific(key, (void *)1); $S", "l = (long)pthread_getspecific(key); $S", "pthread_setspecific(key, &x); $S l += pthread_getspecific(key) == &x;",
    ]]).declares("static pthread_key_t key;\nstatic void ended(void *unused) { x++; if (y) y = 3; }").begins("pthread_key_create(&key, ended);"),
    feature("numbers of keys", &[&[
        "{ pthread_key_t mine; pthread_key_create(&mine, 0); l = mine; }", "{ pthread_key_t mine; pthread_key_create(&mine, 0); l = mine; pthread_key_delete(mine); }",
    ]]),
    feature("C11 mutexes and once", &[&[
        "mtx_lock(&mt); $S mtx_unlock(&mt);", "if (mtx_trylock(&mt) == thrd_success) { $S mtx_unlock(&mt); } else l = 3;", "call_once(&done, start); l += x;",
        "mtx_lock(&mt); $S $S mtx_unlock(&mt);", "thrd_yield(); $S",
    ]]).declares("#include <threads.h>\nstatic mtx_t mt;\nstatic once_flag done = ONCE_FLAG_INIT;\nstatic void start(void) { x++; }").begins("mtx_init(&mt, mtx_plain);"),
    feature("C11 condition variables", &[
        &["mtx_lock(&mt); while (!ready) cnd_wait(&cn, &mt); $S mtx_unlock(&mt);", "mtx_lock(&mt); if (!ready) cnd_wait(&cn, &mt); l += ready; mtx_unlock(&mt);"],
        &["mtx_lock(&mt); ready = 1; mtx_unlock(&mt); cnd_signal(&cn);", "mtx_lock(&mt); ready++; cnd_broadcast(&cn); mtx_unlock(&mt);", "ready = 1; cnd_signal(&cn);"],
    ]).declares("#include <threads.h>\nstatic mtx_t mt;\nstatic cnd_t cn;\nstatic int ready;").begins("mtx_init(&mt, mtx_plain); cnd_init(&cn);").shows(&["ready"]),
    // Threads.
    feature("cancellation", &[
        &["pthread_testcancel(); $S", "usleep(1); $S", "$S pthread_testcancel(); $S",
          "pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0); $S pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, 0); pthread_testcancel(); $S",
          "pthread_cleanup_push(cleanup, 0); $S pthread_testcancel(); pthread_cleanup_pop($z);",
          "pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0); $S pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, 0);"],
        &["pthread_cancel(h0);", "$S pthread_cancel(h0);", "if ($v) pthread_cancel(h0);"],
    ]).declares("static void cleanup(void *unused) { y = 3; }"),
    feature("names of threads", &[
        &["{ char name[16]; pthread_getname_np(pthread_self(), name, 16); l = name[0]; }", "$S"],
        &["pthread_setname_np(h0, \"$k\");"],
    ]),
    feature("attributes of threads", &[
        &["{ size_t size; pthread_attr_getguardsize(&attr, &size); l = size / 4096; }", "{ int state; pthread_attr_getdetachstate(&attr, &state); l = state; }"],
        &["pthread_attr_setguardsize(&attr, $k * 4096);", "pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);"],
    ]).declares("static pthread_attr_t attr;").begins("pthread_attr_init(&attr);"),
    feature("attributes of mutexes", &[
        &["{ int type; pthread_mutexattr_gettype(&kind, &type); l = type; }"],
        &["pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);", "pthread_mutexattr_settype(&kind, $k == 2 ? PTHREAD_MUTEX_ERRORCHECK : PTHREAD_MUTEX_NORMAL);"],
    ]).declares("static pthread_mutexattr_t kind;").begins("pthread_mutexattr_init(&kind);"),
    feature("pthread_setconcurrency", &[&["pthread_setconcurrency($k);", "l = pthread_getconcurrency();"]]),
    feature("priorities", &[&[
        "setpriority(PRIO_PROCESS, 0, 10 + $k);", "l = getpriority(PRIO_PROCESS, 0);", "l = sched_getscheduler(0); $S",
    ]]).declares("#include <sys/resource.h>"),
    feature("affinity", &[&[
        "{ cpu_set_t set; CPU_ZERO(&set); CPU_SET(0, &set); sched_setaffinity(0, sizeof set, &set); }",
        "{ cpu_set_t set; sched_getaffinity(0, sizeof set, &set); l = CPU_COUNT(&set); }", "sched_yield(); $S",
    ]]),
    feature("identities", &[&[
        "l = getpid() & 1;", "if (gettid() & 1) { $S }", "l = pthread_equal(pthread_self(), h0) != 0; $S",
    ]]),
    // Signals.
    feature("pthread_kill", &[
        &["$S l += got;", "l = got; $S", "if (!got) { $S }",
          "{ sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0); $S l = got; pthread_sigmask(SIG_UNBLOCK, &set, 0); }",
          "$S $S"],
        &["pthread_kill(h0, SIGUSR1);", "$S pthread_kill(h0, SIGUSR1);", "if ($v) pthread_kill(h0, SIGUSR1);"],
    ]).declares("static volatile sig_atomic_t got;\nstatic void handler(int which) { got++; if (x) y = 3; }").begins("signal(SIGUSR1, handler);").shows(&["got"]),
    feature("raise", &[&[
        "raise(SIGUSR1); $S", "$S raise(SIGUSR1);", "if ($v) raise(SIGUSR1);",
    ]]).declares("static volatile sig_atomic_t got;\nstatic void handler(int which) { got++; x++; }").begins("signal(SIGUSR1, handler);").shows(&["got"]),
    feature("changing handlers", &[
        &["raise(SIGUSR1); $S"],
        &["signal(SIGUSR1, other);", "signal(SIGUSR1, SIG_IGN);", "signal(SIGUSR1, other); $S signal(SIGUSR1, handler);"],
    ]).declares("static void handler(int which) { x++; }\nstatic void other(int which) { y++; }").begins("signal(SIGUSR1, handler);"),
    feature("sigwait", &[
        &["{ int which; sigwait(&set, &which); $S }", "{ int which; $S sigwait(&set, &which); l = which == SIGUSR1; }"],
        &["$S pthread_kill(h0, SIGUSR1);", "pthread_kill(h0, SIGUSR1); $S"],
    ]).declares("static sigset_t set;").begins("sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0);"),
    feature("pause", &[
        &["pause(); l = got;", "if (!got) pause();"],
        &["pthread_kill(h0, SIGUSR1);", "$S pthread_kill(h0, SIGUSR1);"],
    ]).declares("static volatile sig_atomic_t got;\nstatic void handler(int which) { got++; }").begins("signal(SIGUSR1, handler);"),
    feature("alarm", &[&[
        "alarm(1); $S", "l = got; $S", "alarm(1); sleep(2); l = got;", "l = alarm(0);",
    ]]).declares("static volatile sig_atomic_t got;\nstatic void handler(int which) { got++; }").begins("signal(SIGALRM, handler);").shows(&["got"]),
    feature("sets of signals", &[
        &["l = sigismember(&set, SIGUSR1);", "if (sigismember(&set, SIGUSR2)) { $S }"],
        &["sigaddset(&set, SIGUSR1);", "sigdelset(&set, SIGUSR2);", "sigemptyset(&set);"],
    ]).declares("static sigset_t set;").begins("sigemptyset(&set); sigaddset(&set, SIGUSR2);"),
    // The heap and other memory.
    feature("heap", &[
        &["if (p) *p = $k;", "{ int *mine = p; if (mine) l = *mine; }", "{ int *mine = p; if (mine) { $S *mine = $k; } }"],
        &["free(p); p = 0;", "{ int *mine = p; p = 0; free(mine); }", "{ int *mine = malloc(sizeof *mine); *mine = $k; p = mine; }", "{ int *mine = p; p = 0; $S free(mine); }"],
    ]).declares("static int *p;").begins("p = malloc(sizeof *p); *p = 1;").shows(&["p != 0"]),
    feature("heap blocks under a lock", &[
        &["pthread_mutex_lock(&m); if (p) l = *p; pthread_mutex_unlock(&m);", "pthread_mutex_lock(&m); if (p) *p = $k; pthread_mutex_unlock(&m);"],
        &["pthread_mutex_lock(&m); free(p); p = 0; pthread_mutex_unlock(&m);", "pthread_mutex_lock(&m); p = realloc(p, 64); *p += $k; pthread_mutex_unlock(&m);"],
    ]).declares("static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int *p;").begins("p = malloc(sizeof *p); *p = 1;"),
    feature("double free", &[&[
        "{ int *mine = p; if (mine) { p = 0; free(mine); } }", "if (p) { free(p); p = 0; l = 1; }", "if (p && *p == $k) { $S }", "p = 0;",
    ]]).declares("static int *p;").begins("p = malloc(sizeof *p); *p = 1;"),
    // Claims are made of programs to which the values of addresses mean nothing, and so are these made.
    feature("addresses of heap blocks", &[&[
        "{ void *mine = malloc(24); l = mine == old; old = mine; }", "{ void *mine = malloc(24); if (mine) { $S } free(mine); }", "free(malloc(24)); $S", "if (!old) old = malloc(24);",
    ]]).declares("static void *old;"),
    feature("compare-and-swap of addresses", &[
        &["{ void *seen = top; $S if (atomic_compare_exchange_strong(&top, &seen, (void *)0)) l = 3; }", "{ void *seen = top; if (seen) { l = 1 + atomic_compare_exchange_strong(&top, &seen, (void *)0); } $S }"],
        &["{ void *mine = atomic_exchange(&top, (void *)0); free(mine); $S top = malloc(24); }", "{ void *mine = top; top = 0; free(mine); top = malloc(24); turns++; }", "{ void *mine = atomic_exchange(&top, malloc(24)); free(mine); $S }",
          "{ free(atomic_exchange(&top, (void *)0)); void *mine = malloc(24); $S top = mine; }"],
    ]).declares("#include <stdatomic.h>\nstatic void *_Atomic top;\nstatic int turns;").begins("top = malloc(24);").shows(&["top != 0", "turns"]),
    feature("mapped memory", &[
        &["page[0] = $k;", "l = page[0];", "if (page[0]) { $S }", "page[0]++;"],
        &["mprotect(page, 4096, PROT_READ);", "munmap(page, 4096);", "madvise(page, 4096, MADV_DONTNEED);", "page[0] = $k;"],
    ]).declares("#include <sys/mman.h>\nstatic char *page;").begins("page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);"),
    feature("more and less memory", &[&[
        "{ char *mine = (char *)mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); l = mine[5]; munmap(mine, 4096); $S }", "{ char *mine = (char *)sbrk(4096); l = mine == (char *)sbrk(0); }",
        "{ char *mine = (char *)mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); mine[1] = $k; $S l = mine[1]; }",
    ]]).declares("#include <sys/mman.h>"),
    // What is not decided by the order of threads, or by the library's own state.
    feature("clocks", &[&[
        "l = time(0) & 1;", "{ struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); if (now.tv_nsec / 1000 & 1) { $S } }", "if (clock() & 1) { $S }",
        "{ struct timespec now; timespec_get(&now, TIME_UTC); l = now.tv_sec & 1; }",
    ]]),
    feature("sleeping", &[&[
        "usleep($k); $S", "{ struct timespec span = { 0, $k }; nanosleep(&span, 0); l += $v; }", "$S sleep(1); l += $v;", "sched_yield(); $S",
    ]]),
    feature("randomness", &[&[
        "l = rand() & 1;", "{ unsigned char draw; getrandom(&draw, 1, 0); if (draw & 1) { $S } }", "srand($k); $S", "l = random() & 3;", "l = rand_r(&state) & 3;",
        "l = (long)(drand48() * 4);", "srand48($k);",
    ]]).declares("#include <sys/random.h>\nstatic unsigned state;"),
    feature("environment", &[&[
        "l = getenv(\"HOME\") != 0; $S", "setenv(\"SOUND\", \"$k\", 1);", "l = getenv(\"SOUND\") != 0;", "unsetenv(\"SOUND\");", "l = sysconf(_SC_NPROCESSORS_ONLN) & 1; $S",
        "putenv((char *)\"SOUND=1\");",
    ]]),
    feature("limits", &[
        &["{ struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); l = limit.rlim_cur; }"],
        &["{ struct rlimit limit; getrlimit(RLIMIT_NOFILE, &limit); limit.rlim_cur = 128 + $k; setrlimit(RLIMIT_NOFILE, &limit); }"],
    ]).declares("#include <sys/resource.h>"),
    feature("errno and jumps", &[&[
        "errno = 0; close(-1); l = errno == EBADF; $S", "{ jmp_buf back; if (!setjmp(back)) { $S longjmp(back, 1); } else l++; }",
    ]]).declares("#include <setjmp.h>"),
    feature("states of the library", &[&[
        "l = strerror($k)[0]; $S", "{ time_t when = 86400 * $k; l = localtime(&when)->tm_mday; }", "{ char *mine = strdup(\"a b\"); strtok(mine, \" \"); l = strtok(0, \" \") != 0; free(mine); }",
        "l = setlocale(LC_ALL, \"C\") != 0; $S", "hcreate($k); $S", "l = l64a($k)[0];",
    ]]).declares("#include <locale.h>\n#include <search.h>"),
    // Library functions on memory that threads share.
    feature("strings, announced", &[&[
        "strcpy(text, \"$k\");", "l = strlen(text);", "memcpy(text, \"21\", 3);", "l = strcmp(text, \"12\") != 0;", "memset(text, '$k', 2);", "if (strchr(text, '$k')) { $S }",
        "strncpy(text, \"3\", 4);", "l = memcmp(text, \"12\", 2) == 0;", "{ char *mine = strdup(text); l = mine[0]; free(mine); }", "text[0]++;", "text[1] = 0;", "strcat(text, \"$k\");",
    ]]).declares("static char text[64] = \"12\";").shows(&["text[0]", "text[1]", "text[2]"]),
    feature("strings, not announced", &[&[
        "l = strstr(text, \"2\") != 0;", "strncat(text, \"$k\", 1);", "stpcpy(text, \"$k\");", "l = strcasecmp(text, \"12\") == 0;", "l = strspn(text, \"1\");", "text[0]++;", "text[1] = 0;",
        "{ char *rest; l = strtok_r(text, \"2\", &rest) != 0; }", "l = memrchr(text, '2', 3) != 0;",
    ]]).declares("static char text[64] = \"12\";").shows(&["text[0]", "text[1]", "text[2]"]),
    feature("copies that compilers write out", &[&[
        "__builtin_memset(text, $k, 4);", "stpcpy(text, \"$k\");", "sprintf(text, \"$k\");", "sprintf(text, \"%s\", \"$k\");", "strncat(text, \"$k\", 1);", "mempcpy(text, \"21\", 2);",
        "__builtin_memcpy(text, other, 4);", "l = __builtin_memcmp(text, other, 2) == 0;", "l = bcmp(text, \"12\", 2) != 0;", "text[0]++;", "l = text[0];", "other[0] = '$k';", "snprintf(text, 8, \"$k\");",
        "large = small($k);", "large.n[4] = $k;", "{ struct large mine = large; l = mine.n[0] + mine.n[4]; }",
    ]]).declares("static char text[64] = \"12\", other[8] = \"3\";\nstruct large { int n[5]; };\nstatic struct large large;\nstatic struct large small(int n) { struct large result = { { n, n, n, n, n } }; return result; }")
        .shows(&["text[0]", "text[1]", "large.n[0]", "large.n[4]"]),
    feature("texts and numbers", &[&[
        "l = atoi(text);", "l = strtol(text, 0, 10);", "sprintf(text, \"%d\", $k);", "snprintf(text, 8, \"%d%d\", $k, $n);", "{ int got = 0; sscanf(text, \"%d\", &got); l = got; }", "text[0]++;",
        "text[0] = '$k';", "if (atoi(text) == 12) { $S }", "sscanf(\"$k\", \"%d\", &x);", "{ char mine[8]; snprintf(mine, 8, \"%s\", text); l = mine[0]; }",
    ]]).declares("static char text[64] = \"12\";").shows(&["text[0]", "text[1]"]),
    feature("output", &[&[
        "puts(text);", "printf(\"%s\\n\", text);", "fputs(text, stdout);", "l = write(1, text, 1); $S", "text[0]++;", "printf(\"%d\\n\", (int)l); $S", "puts(\"done\"); $S", "fwrite(text, 1, 2, stdout);",
        "fflush(stdout); $S",
    ]]).declares("static char text[64] = \"12\";").shows(&["text[0]"]),
    feature("states of streams", &[&[
        "putchar('a'); l = ftell(stdout);", "ungetc('$k', stdin);", "l = getchar();", "l = feof(stdin);", "clearerr(stdin);", "rewind(stdin);",
    ]]),
    feature("sorting", &[&[
        "qsort(list, 4, sizeof *list, by);", "list[$i] = $k;", "l = list[$i];", "{ int want = $k, *found = (int *)bsearch(&want, list, 4, sizeof *list, by); l = found != 0; }",
        "{ int mine[3] = { $k, x, 2 }; qsort(mine, 3, sizeof *mine, by); l = mine[0]; }",
    ]]).declares("static int list[4] = { 3, 1, 2, 0 };\nstatic int by(const void *a, const void *b) { return *(const int *)a - *(const int *)b + (x == 3); }").shows(&["list[0]", "list[3]"]),
    // Descriptors.
    feature("pipes", &[
        &["{ char got = 0; l = read(ends[0], &got, 1); if (l == 1) l = got; }", "{ char got[2] = \"\"; read(ends[0], got, 2); l = got[0] + got[1]; }"],
        &["write(ends[1], \"$k\", 1); $S", "$S write(ends[1], \"$k\", 1);", "write(ends[1], \"12\", 2);", "write(ends[1], \"$k\", 1); write(ends[1], \"$n\", 1);"],
    ]).declares("static int ends[2];").begins("if (pipe(ends)) return 2;"),
    feature("eventfd", &[
        &["{ unsigned long long count = 0; read(event, &count, 8); l = count; }"],
        &["{ unsigned long long count = $k; write(event, &count, 8); }", "eventfd_write(event, $k);"],
    ]).declares("#include <sys/eventfd.h>\nstatic int event;").begins("event = eventfd(0, 0);"),
    feature("numbers of descriptors", &[&[
        "l = dup(1);", "{ int mine = dup(1); l = mine; close(mine); }", "l = open(\"/dev/null\", O_RDONLY);", "{ int two[2]; if (!pipe(two)) l = two[0]; }", "l = syscall(SYS_dup, 1);",
        "close(0); $S", "l = fileno(stdin); $S",
    ]]).declares("#include <fcntl.h>\n#include <sys/syscall.h>"),
    feature("closing", &[&[
        "l = close(spare);", "l = write(spare, \"\", 0);", "l = dup2(1, spare);", "l = isatty(spare) + (errno == EBADF); $S", "l = fcntl(spare, F_GETFD);",
    ]]).declares("#include <fcntl.h>\nstatic int spare;").begins("spare = dup(1);"),
    feature("files", &[&[
        "{ int file = open(\"soundness.tmp\", O_CREAT | O_RDWR | O_TRUNC, 0600); write(file, \"$k\", 1); close(file); }", "l = unlink(\"soundness.tmp\");", "l = access(\"soundness.tmp\", F_OK);",
        "l = remove(\"soundness.tmp\");",
    ]]).declares("#include <fcntl.h>"),
    feature("system calls by number", &[&[
        "l = syscall(SYS_getpid) & 1;", "syscall(SYS_sched_yield); $S", "l = syscall(SYS_membarrier, 0, 0); $S", "{ char got; l = syscall(SYS_getrandom, &got, 1, 0); }", "l = syscall(SYS_close, 3);",
    ]]).declares("#include <sys/syscall.h>"),
    // What has no row in the table of functions, or asks others.
    feature("functions without a row", &[&[
        "{ unsigned short from[3] = { 1, 2, $k }; l = seed48(from)[2] & 3; }", "{ unsigned short from[3] = { 1, 2, $n }; seed48(from); $S }", "l = l64a($k)[0] & 3;",
        "l = setlogmask($k) & 3;", "{ setlogmask($n); $S }",
    ]]).declares("#include <syslog.h>"),
    feature("functions found by name", &[&[
        "{ unsigned short from[3] = { 1, 2, $k }; l = SEED(from)[2] & 3; }", "{ unsigned short from[3] = { 1, 2, $n }; SEED(from); $S }", "$S l = TO_TEXT($k)[0] & 3;",
        "l = MASK($k) & 3;", "{ MASK($n); $S }", "$S l = MASK($n) & 3;",
    ]]).declares("#include <dlfcn.h>\n#define MASK ((int (*)(int))dlsym(RTLD_DEFAULT, \"setlogmask\"))\n#define SEED ((unsigned short *(*)(unsigned short *))dlsym(RTLD_DEFAULT, \"seed48\"))\n#define TO_TEXT ((char *(*)(long))dlsym(RTLD_DEFAULT, \"l64a\"))"),
    feature("memory that is mapped twice", &[
        &["*one = $k;", "if (*one == $k) { $S }", "l = *one; $S"],
        &["l = *other;", "*other = $k; $S", "$S *other = $n;", "if (*other) { $S }"],
    ]).declares("#include <sys/mman.h>\nstatic int *one, *other;")
        .begins("{ int file = memfd_create(\"both\", 0); if (ftruncate(file, 4096)) return 2; one = mmap(0, 4096, 3, MAP_SHARED, file, 0); other = mmap(0, 4096, 3, MAP_SHARED, file, 0); }")
        .shows(&["*one"]),
    feature("fields of some bits", &[&[
        "bits.low = $k;", "bits.high = $n;", "l = bits.low;", "if (bits.high == $k) { $S }", "bits.low++; $S",
    ]]).declares("static struct { unsigned low : 2, high : 2; } bits;").shows(&["bits.low", "bits.high"]),
    feature("addresses", &[&[
        "if (block[$z]) { free(block[$z]); block[$z] = malloc(8); turns++; }", "{ void *seen = block[$z]; int turn = turns; $S if (seen == block[$z]) l = turns - turn; }",
        "l = block[0] < block[1];", "{ void *mine = malloc(8); l = mine < block[$z]; free(mine); }",
    ]]).declares("static void *volatile block[2];\nstatic int turns;").begins("block[0] = malloc(8); block[1] = malloc(8);").shows(&["turns"]),
    feature("memory given to functions without a row", &[&[
        "memfrob(&$v, 1);", "{ memfrob(&$v, 1); $S }", "swab((char *)&$v, (char *)&$w, 2);",
    ]]),
    feature("instructions that ask", &[&[
        "l = asked($k) & 3;", "{ asked($n); $S }", "$S l = asked($n) & 3;", "if (drawn() & 1) { $S }", "l = drawn() & 1;",
    ]]).declares("static int asked(int mask) { int old; __asm__ volatile(\"syscall\" : \"=a\"(old) : \"a\"(95), \"D\"(mask) : \"rcx\", \"r11\", \"memory\"); return old; }\nstatic long drawn(void) { long got; __asm__ volatile(\"rdrand %0\" : \"=r\"(got) : : \"cc\"); return got; }"),
    feature("calls of the system that nobody knows", &[&[
        "l = syscall(SYS_umask, $k) & 3;", "{ syscall(SYS_umask, $n); $S }", "$S l = syscall(SYS_umask, $k) & 3;",
    ]]).declares("#include <sys/syscall.h>"),
    // Who comes second finds what the first one made, and takes it away.
    feature("other processes", &[&[
        "l = system(\"mkdir d 2>/dev/null || { rmdir d; exit 1; }\") != 0;", "$S l = system(\"mkdir d 2>/dev/null || { rmdir d; exit 1; }\") != 0;",
    ]]),
    feature("a library without instrumentation", &[&[
        "l = plain_add($k) & 3;", "{ plain_add($n); $S }", "plain_set(&$v, $k);", "l = plain_get(&$v) & 3;",
    ]]).declares("int plain_add(int); void plain_set(int *, int); int plain_get(int *);")
        .with_library("static int sum;\nint plain_add(int n) { return sum += n; }\nvoid plain_set(int *p, int n) { *p = n; }\nint plain_get(int *p) { return *p; }\n"),
    // Ends. Who ends the process waits for others, but not for ever.
    feature("long threads", &[
        &["$S l = y;", "l = $v;", "if ($v) $w = $k;"],
        &["for (int i = 0; i < 1050; i++) x++; y = $k;", "for (int i = 0; i < 1050; i++) x = i & 1; $S"],
    ]),
    feature("handlers of exit", &[&[
        "atexit(set_one); $S", "atexit(set_two);", "$S atexit(set_two);", "at_quick_exit(set_one);", "at_quick_exit(set_two); $S",
    ]]).declares("static void set_one(void) { x = 1; }\nstatic void set_two(void) { x = 2; }"),
    // By itself, one thread is slow to fail, and the other one sees why in the meantime.
    feature("failing at once", &[
        &["x = 1; linger(4); abort();", "x = $k; linger(4); assert(0);", "linger(1); x++; linger(4); abort();"],
        &["linger(2); if (x) _exit(3);", "linger(2); if (x) exit(3);", "linger(2); if (x) _exit(3); $S"],
    ]).declares("static void linger(int times) { for (int i = 0; i < times * 5000; i++) __asm__ volatile(\"pause\"); }"),
    feature("ending the process", &[&[
        "if ($v != $k) _exit($z);", "$S _exit($z);", "_exit($z);", "exit($z);", "if (!$v) exit($k);", "sleep(1); _exit(3);", "usleep($k); _exit($z);",
    ]]),
    feature("failing by itself", &[&[
        "if ($v == $k) abort();", "if ($v == 2 && $w == $k) exit(3);", "assert($v < 4);", "if ($v == 3) *(volatile int *)0 = 1;", "l = 6 / (3 - $v);", "if ($v == 2) pthread_exit((void *)2L); $S",
    ]]),
    // C++.
    feature("std::mutex", &[&[
        "{ std::lock_guard<std::mutex> hold(m); $S }", "{ std::scoped_lock both(m, n); $S }", "{ std::unique_lock<std::mutex> hold(n); $S }", "if (m.try_lock()) { $S m.unlock(); } else l = 3;",
        "{ std::lock_guard<std::mutex> hold(m); std::lock_guard<std::mutex> other(n); $S }", "{ std::lock_guard<std::mutex> hold(n); std::lock_guard<std::mutex> other(m); $S }",
    ]]).cxx().declares("#include <mutex>\nstatic std::mutex m, n;"),
    feature("std::shared_mutex", &[&[
        "{ std::shared_lock<std::shared_mutex> hold(rw); $S }", "{ std::unique_lock<std::shared_mutex> hold(rw); $S }", "{ std::shared_lock<std::shared_mutex> hold(rw); l += $v; }",
    ]]).cxx().declares("#include <shared_mutex>\n#include <mutex>\nstatic std::shared_mutex rw;"),
    feature("std::condition_variable", &[
        &["{ std::unique_lock<std::mutex> hold(m); c.wait(hold, [] { return ready != 0; }); $S }", "{ std::unique_lock<std::mutex> hold(m); if (!ready) c.wait(hold); l += ready; }"],
        &["{ std::lock_guard<std::mutex> hold(m); ready = 1; } c.notify_one();", "{ std::lock_guard<std::mutex> hold(m); ready++; c.notify_all(); }", "ready = 1; c.notify_one();"],
    ]).cxx().declares("#include <condition_variable>\n#include <mutex>\nstatic std::mutex m;\nstatic std::condition_variable c;\nstatic int ready;").shows(&["ready"]),
    feature("std::atomic", &[&[
        "a.store($k, std::$O);", "l = a.load(std::$L);", "l += a.fetch_add($k, std::$M);", "{ int seen = $k; if (a.compare_exchange_weak(seen, $n)) { $S } else l = seen; }", "b++;",
        "if (a.load(std::$L) == $k) { $S }", "l += b.exchange($k, std::$M);", "b ^= 1;",
    ]]).cxx().declares("#include <atomic>\nstatic std::atomic<int> a, b;").shows(&["a.load()", "b.load()"]),
    feature("std::atomic::wait", &[
        &["go.wait(0); $S", "go.wait(0); l = go;"],
        &["$S go = $k; go.notify_one();", "go = $k; go.notify_all(); $S", "$S go = $k;"],
    ]).cxx().declares("#include <atomic>\nstatic std::atomic<int> go;"),
    feature("std::thread", &[&[
        "{ std::thread other([] { x++; }); $S other.join(); }", "{ std::thread other([] { x++; y = x; }); other.detach(); $S }", "{ int mine = 0; std::thread other([&] { mine = x; }); other.join(); l = mine; }",
        "$S", "l += $v;",
    ]]).cxx().declares("#include <thread>"),
    feature("std::future", &[
        &["l = given.get();", "$S l = given.get();", "given.wait(); $S"],
        &["$S giver.set_value($k);", "giver.set_value($k); $S"],
    ]).cxx().declares("#include <future>\nstatic std::promise<int> giver;\nstatic std::future<int> given;").begins("given = giver.get_future();"),
    feature("std::async", &[&[
        "{ auto later = std::async(std::launch::async, [] { return x; }); $S l = later.get(); }", "$S", "l += $v;",
    ]]).cxx().declares("#include <future>"),
    feature("local static variables", &[&[
        "l = made();", "l = made(); $S", "$S l = made();",
    ]]).cxx().declares("static int made() { static int result = x + 1; return result; }"),
    feature("exceptions", &[&[
        "try { if ($v) throw $k; $S } catch (int caught) { l = caught; }", "if ($v == 3) throw 1;", "try { thrown(x); $S } catch (const std::exception &) { l = 3; }",
    ]]).cxx().declares("#include <stdexcept>\nstatic void thrown(int n) { if (n == 2) throw std::runtime_error(\"two\"); }"),
    feature("std::shared_ptr", &[&[
        "{ auto mine = held; if (mine) *mine = $k; }", "held.reset();", "{ auto mine = std::atomic_load(&held); if (mine) l = *mine; }", "std::atomic_store(&held, std::make_shared<int>($k));",
        "held = std::make_shared<int>($k);",
    ]]).cxx().declares("#include <memory>\nstatic std::shared_ptr<int> held;").begins("held = std::make_shared<int>(1);").shows(&["held ? *held : 0"]),
    feature("std::string", &[&[
        "word = \"$k\";", "l = word[0];", "word += \"x\";", "l = word.size();", "if (word == \"1\") { $S }", "word.clear();",
    ]]).cxx().declares("#include <string>\nstatic std::string word = \"1\";").shows(&["(int)word.size()", "word[0]"]),
    feature("containers", &[&[
        "many.push_back($k);", "l = many.size();", "if (!many.empty()) l = many.back();", "counts[$k]++;", "l = counts.size();", "if (many.size() > 1) many.pop_back();",
    ]]).cxx().declares("#include <map>\n#include <vector>\nstatic std::vector<int> many;\nstatic std::map<int, int> counts;").begins("many.push_back(1);").shows(&["(int)many.size()"]),
    feature("std::latch and its like", &[&[
        "$S gate.arrive_and_wait(); $S", "gate.arrive_and_wait(); l += $v;", "room.acquire(); $S room.release();", "if (room.try_acquire()) { $S room.release(); } else l = 3;", "gate.count_down(); $S",
    ]]).cxx().declares("#include <latch>\n#include <semaphore>\nstatic std::latch gate($T);\nstatic std::counting_semaphore<2> room(1);"),
    feature("std::jthread", &[&[
        "{ std::jthread other([](std::stop_token stop) { if (stop.stop_requested()) y = 3; else x++; }); $S other.request_stop(); }", "$S", "l += $v;",
    ]]).cxx().declares("#include <thread>"),
    feature("std::call_once", &[&[
        "std::call_once(done, [] { x++; if (y) x = 3; }); $S", "$S std::call_once(done, [] { x++; }); l += x;",
    ]]).cxx().declares("#include <mutex>\nstatic std::once_flag done;"),
    feature("destructors of thread-local objects", &[&[
        "l = own.n++; $S", "own.n = $v;", "$S",
    ]]).cxx().declares("struct Own { int n = 1; ~Own() { x += n; } };\nstatic thread_local Own own;"),
    feature("streams of C++", &[&[
        "std::cout << x << '\\n';", "std::cout << \"done\" << std::endl; $S", "{ std::ostringstream mine; mine << y; l = mine.str().size(); }",
    ]]).cxx().declares("#include <iostream>\n#include <sstream>"),
    feature("std::chrono", &[&[
        "{ auto now = std::chrono::steady_clock::now(); l = now.time_since_epoch().count() & 1; }", "std::this_thread::sleep_for(std::chrono::milliseconds($k)); $S", "std::this_thread::yield(); $S",
    ]]).cxx().declares("#include <chrono>\n#include <thread>"),
    feature("new and delete", &[
        &["if (object) object->n = $k;", "{ auto mine = object; if (mine) l = mine->look(); }"],
        &["delete object; object = nullptr;", "{ auto mine = object; object = nullptr; delete mine; }", "object = new Derived;"],
    ]).cxx().declares("struct Base { int n = 1; virtual int look() { return n; } virtual ~Base() { n = 3; } };\nstruct Derived : Base { int look() override { return n + 1; } };\nstatic Base *object;").begins("object = new Derived;"),
    feature("who initialises a local static variable", &[&[
        "l = first($k); $S", "$S l = first($n);", "if ($v) l = first($k);", "try { l = tried($k); } catch (int) { l = 3; }",
    ]]).cxx().declares("static int first(int who) { static int made = who; return made; }\nstatic int try_it(int who) { if (!y++) throw who; return who; }\nstatic int tried(int who) { static int made = try_it(who); return made; }"),
    feature("exceptions that threads share", &[
        &["held = nullptr; $S", "$S held = nullptr; l = $v;"],
        &["kept = nullptr; l = $v;", "try { std::rethrow_exception(kept); } catch (const Counted &) { $S } kept = nullptr;"],
    ]).cxx().declares("#include <exception>\nstruct Counted { Counted() {} Counted(const Counted &) {} ~Counted() { x = x * 2 + y; } };\nstatic std::exception_ptr held, kept;").begins("held = kept = std::make_exception_ptr(Counted());"),
    feature("threads that are detached late", &[&[
        "if ($v == $k) pthread_detach(pthread_self()); $S", "$S pthread_detach(h0);", "$S", "l += $v;",
    ]]),
    feature("signals that come too early", &[
        &["{ sigset_t none; sigemptyset(&none); if (!came) sigsuspend(&none); $S }", "{ sigset_t one; int n; sigemptyset(&one); sigaddset(&one, SIGURG); pthread_sigmask(SIG_BLOCK, &one, 0); sigwait(&one, &n); $S }"],
        &["pthread_kill(h0, SIGUSR1); $S", "$S pthread_kill(h0, SIGURG);"],
    ]).declares("static volatile sig_atomic_t came;\nstatic void comes(int signal) { came = 1; }").begins("signal(SIGUSR1, comes);"),
    feature("yielding for long", &[&["for (int i = 0; i < 50; i++) sched_yield(); $S", "$S"]]),
    // What functions of the library leave behind.
    feature("what calls come to", &[&[
        "if (printf(\"%d\\n\", (int)$v * 5) == 3) l = $k;", "l = strerror($v)[0];", "{ int n = 0; printf(\"%d%n\\n\", (int)$v * 5, &n); l = n; }", "l = ldiv($v, 2).rem; $S", "l = sysconf($v) > 0;",
    ]]).declares("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>"),
    feature("streams over memory", &[&[
        "fputs(\"$k\", sheet); $S", "fprintf(sheet, \"%d\", (int)$v);", "fputc('$k', sheet); fputc('$n', sheet);", "fwrite(\"$k$n\", 1, 2, sheet);",
    ]]).declares("#include <stdio.h>\nstatic FILE *sheet;\nstatic char *content;\nstatic size_t length;").begins("sheet = open_memstream(&content, &length); fputs(\"0\", sheet);").shows(&["(fflush(sheet), content[1])"]),
    feature("pointers that are given back", &[&[
        "{ char *block = (char *)malloc(64); free(block + ($v > 2 ? 8 : 0)); }", "{ char *block = (char *)malloc(64); block = (char *)realloc(block, 64 + $v); free(block); }", "$S",
    ]]).declares("#include <stdlib.h>"),
    feature("checked copies", &[&[
        "{ char little[4]; __builtin___memcpy_chk(little, \"123456789\", (size_t)$v + 2, 4); l = little[1]; }", "__builtin___strcpy_chk(place, $v > 2 ? \"long\" : \"1\", 4);", "l = place[0];",
    ]]).declares("#include <string.h>\nstatic char place[4] = \"0\";"),
    feature("files that are mapped", &[&[
        "{ int n = $k; l = pwrite(file, &n, sizeof n, 0); }", "l = *mapped;", "*mapped = $k;",
    ]]).declares("#ifndef _GNU_SOURCE\n#define _GNU_SOURCE\n#endif\n#include <sys/mman.h>\n#include <unistd.h>\nstatic int file;\nstatic volatile int *mapped;")
        .begins("file = memfd_create(\"file\", 0); if (ftruncate(file, 4096)) return 2; mapped = (volatile int *)mmap(0, 4096, 3, MAP_SHARED, file, 0);").shows(&["*mapped"]),
    feature("numbers of the C++ library", &[&["l = std::ios_base::xalloc() - first; $S", "$S l = std::ios_base::xalloc() - first;"]])
        .cxx().declares("#include <ios>\nstatic int first = std::ios_base::xalloc();"),
    feature("streams of C++ over memory", &[&[
        "{ std::lock_guard<std::mutex> mine(pen); sheet << $k; }", "{ std::lock_guard<std::mutex> mine(pen); sheet << (int)$v << \"$n\"; }", "$S",
    ]]).cxx().declares("#include <mutex>\n#include <sstream>\nstatic std::mutex pen;\nstatic std::ostringstream sheet;").shows(&["sheet.str().c_str()[0]"]),
];
