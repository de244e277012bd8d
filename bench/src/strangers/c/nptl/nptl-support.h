/* What glibc's thread tests expect of its folder support/, for building each of them alone: every header that they name from
   there, and some that belong to glibc itself, is this one. All is static, so that a test stays one file. */
#ifndef STRANGERS_SUPPORT_H
#define STRANGERS_SUPPORT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#pragma GCC diagnostic ignored "-Wunused-function"

#include <assert.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <malloc.h>
#include <paths.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EXIT_UNSUPPORTED 77
#define DEFAULT_TIMEOUT 20
#define TIMESPEC_HZ 1000000000

#define array_length(array) (sizeof (array) / sizeof ((array)[0]))
#define array_end(array) (&(array)[array_length (array)])
#define DIAG_PUSH_NEEDS_COMMENT
#define DIAG_POP_NEEDS_COMMENT
#define DIAG_IGNORE_NEEDS_COMMENT(version, option)
#define DIAG_IGNORE_Os_NEEDS_COMMENT(version, option)

static unsigned int test_verbose;
static const char *test_dir = "/tmp";
/* How many checks failed that do not end the process. */
static int support_failures;

#define verbose_printf(...) do { if (test_verbose > 0) printf (__VA_ARGS__); } while (0)

static void support_record_failure (void)
{
  __atomic_fetch_add (&support_failures, 1, __ATOMIC_SEQ_CST);
}

static int support_report_failure (int status)
{
  if (__atomic_load_n (&support_failures, __ATOMIC_SEQ_CST) == 0)
    return status;
  return status == 0 || status == EXIT_UNSUPPORTED ? 1 : status;
}

__attribute__ ((format (printf, 3, 4)))
static int support_print_failure (const char *file, int line, const char *format, ...)
{
  va_list arguments;
  support_record_failure ();
  printf ("error: %s:%d: ", file, line);
  va_start (arguments, format);
  vprintf (format, arguments);
  va_end (arguments);
  puts ("");
  return 1;
}

#define FAIL(...) support_print_failure (__FILE__, __LINE__, __VA_ARGS__)
#define FAIL_RET(...) return FAIL (__VA_ARGS__)
#define FAIL_EXIT(status, ...) do { FAIL (__VA_ARGS__); exit (status); } while (0)
#define FAIL_EXIT1(...) FAIL_EXIT (1, __VA_ARGS__)
#define FAIL_UNSUPPORTED(...) do { printf (__VA_ARGS__); exit (EXIT_UNSUPPORTED); } while (0)
#define FAIL_ERR(fmt, ...) FAIL_EXIT1 (fmt ": %m", ##__VA_ARGS__)

#define TEST_VERIFY(expression) ((expression) ? (void) 0 : (void) FAIL ("not true: %s", #expression))
#define TEST_VERIFY_EXIT(expression) do { if (!(expression)) FAIL_EXIT1 ("not true: %s", #expression); } while (0)
#define TEST_COMPARE(left, right) \
  ({ \
    __typeof__ (+(left)) support_left = (left); \
    __typeof__ (+(right)) support_right = (right); \
    if (support_left != support_right || (support_left > 0) != (support_right > 0)) \
      FAIL ("%s is %lld, and %s is %lld", #left, (long long) support_left, #right, (long long) support_right); \
  })

/* Calls that must not fail. */
#define SUPPORT_MUST(call) \
  do { if ((call) < 0) FAIL_EXIT1 ("%s: %m", #call); } while (0)
#define SUPPORT_MUST_BE_0(call) \
  do { int support_error = (call); \
       if (support_error != 0) FAIL_EXIT1 ("%s: %s", #call, strerror (support_error)); } while (0)

#define SUPPORT_THREAD_CALL(name, parameters, arguments) \
  static void xpthread_##name parameters { SUPPORT_MUST_BE_0 (pthread_##name arguments); }

SUPPORT_THREAD_CALL (barrier_init, (pthread_barrier_t *b, pthread_barrierattr_t *a, unsigned n), (b, a, n))
SUPPORT_THREAD_CALL (barrier_destroy, (pthread_barrier_t *b), (b))
SUPPORT_THREAD_CALL (barrierattr_init, (pthread_barrierattr_t *a), (a))
SUPPORT_THREAD_CALL (barrierattr_destroy, (pthread_barrierattr_t *a), (a))
SUPPORT_THREAD_CALL (barrierattr_setpshared, (pthread_barrierattr_t *a, int shared), (a, shared))
SUPPORT_THREAD_CALL (mutexattr_init, (pthread_mutexattr_t *a), (a))
SUPPORT_THREAD_CALL (mutexattr_destroy, (pthread_mutexattr_t *a), (a))
SUPPORT_THREAD_CALL (mutexattr_setprotocol, (pthread_mutexattr_t *a, int protocol), (a, protocol))
SUPPORT_THREAD_CALL (mutexattr_setpshared, (pthread_mutexattr_t *a, int shared), (a, shared))
SUPPORT_THREAD_CALL (mutexattr_setrobust, (pthread_mutexattr_t *a, int robust), (a, robust))
SUPPORT_THREAD_CALL (mutexattr_settype, (pthread_mutexattr_t *a, int type), (a, type))
SUPPORT_THREAD_CALL (mutex_init, (pthread_mutex_t *m, const pthread_mutexattr_t *a), (m, a))
SUPPORT_THREAD_CALL (mutex_destroy, (pthread_mutex_t *m), (m))
SUPPORT_THREAD_CALL (mutex_lock, (pthread_mutex_t *m), (m))
SUPPORT_THREAD_CALL (mutex_unlock, (pthread_mutex_t *m), (m))
SUPPORT_THREAD_CALL (mutex_consistent, (pthread_mutex_t *m), (m))
SUPPORT_THREAD_CALL (spin_lock, (pthread_spinlock_t *l), (l))
SUPPORT_THREAD_CALL (spin_unlock, (pthread_spinlock_t *l), (l))
SUPPORT_THREAD_CALL (cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
SUPPORT_THREAD_CALL (detach, (pthread_t t), (t))
SUPPORT_THREAD_CALL (cancel, (pthread_t t), (t))
SUPPORT_THREAD_CALL (kill, (pthread_t t, int signal), (t, signal))
SUPPORT_THREAD_CALL (once, (pthread_once_t *o, void (*f) (void)), (o, f))
SUPPORT_THREAD_CALL (attr_init, (pthread_attr_t *a), (a))
SUPPORT_THREAD_CALL (attr_destroy, (pthread_attr_t *a), (a))
SUPPORT_THREAD_CALL (attr_setaffinity_np, (pthread_attr_t *a, size_t n, const cpu_set_t *s), (a, n, s))
SUPPORT_THREAD_CALL (attr_setdetachstate, (pthread_attr_t *a, int state), (a, state))
SUPPORT_THREAD_CALL (attr_setstack, (pthread_attr_t *a, void *s, size_t n), (a, s, n))
SUPPORT_THREAD_CALL (attr_setstacksize, (pthread_attr_t *a, size_t n), (a, n))
SUPPORT_THREAD_CALL (attr_setguardsize, (pthread_attr_t *a, size_t n), (a, n))
SUPPORT_THREAD_CALL (rwlock_init, (pthread_rwlock_t *l, const pthread_rwlockattr_t *a), (l, a))
SUPPORT_THREAD_CALL (rwlockattr_init, (pthread_rwlockattr_t *a), (a))
SUPPORT_THREAD_CALL (rwlockattr_setkind_np, (pthread_rwlockattr_t *a, int kind), (a, kind))
SUPPORT_THREAD_CALL (rwlock_wrlock, (pthread_rwlock_t *l), (l))
SUPPORT_THREAD_CALL (rwlock_rdlock, (pthread_rwlock_t *l), (l))
SUPPORT_THREAD_CALL (rwlock_unlock, (pthread_rwlock_t *l), (l))
SUPPORT_THREAD_CALL (rwlock_destroy, (pthread_rwlock_t *l), (l))
SUPPORT_THREAD_CALL (key_delete, (pthread_key_t k), (k))
SUPPORT_THREAD_CALL (sigmask, (int how, const sigset_t *set, sigset_t *old), (how, set, old))

static int xpthread_barrier_wait (pthread_barrier_t *barrier)
{
  int result = pthread_barrier_wait (barrier);
  if (result != 0 && result != PTHREAD_BARRIER_SERIAL_THREAD)
    FAIL_EXIT1 ("pthread_barrier_wait: %s", strerror (result));
  return result;
}

static pthread_key_t xpthread_key_create (void (*destructor) (void *))
{
  pthread_key_t key;
  SUPPORT_MUST_BE_0 (pthread_key_create (&key, destructor));
  return key;
}

static void support_set_small_thread_stack_size (pthread_attr_t *attributes)
{
  xpthread_attr_setstacksize (attributes, 256 * 1024 < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : 256 * 1024);
}

static pthread_t xpthread_create (pthread_attr_t *attributes, void *(*run) (void *), void *argument)
{
  pthread_t thread;
  SUPPORT_MUST_BE_0 (pthread_create (&thread, attributes, run, argument));
  return thread;
}

static void *xpthread_join (pthread_t thread)
{
  void *result;
  SUPPORT_MUST_BE_0 (pthread_join (thread, &result));
  return result;
}

static void *support_delayed_exit (void *seconds)
{
  struct timespec delay = { (intptr_t) seconds, 0 };
  SUPPORT_MUST (nanosleep (&delay, NULL));
  exit (0);
}

/* Ends the process, as passed, after some seconds. */
static void delayed_exit (int seconds)
{
  sigset_t all, old;
  sigfillset (&all);
  xpthread_sigmask (SIG_SETMASK, &all, &old);
  xpthread_detach (xpthread_create (NULL, support_delayed_exit, (void *) (intptr_t) seconds));
  xpthread_sigmask (SIG_SETMASK, &old, NULL);
}

/* Waits until other threads have ended, as glibc has it where it cannot look: /proc shows idle threads of the runtime, too. */
static void support_wait_for_thread_exit (void) { sleep (5); }

/* Kernels of today have it. */
static bool support_mutex_pi_monotonic (void) { return true; }

static void support_need_proc (const char *reason)
{
  if (access ("/proc/self", F_OK) != 0)
    FAIL_UNSUPPORTED ("no /proc: %s", reason);
}

static void *xmmap (void *address, size_t length, int protection, int flags, int fd)
{
  void *result = mmap (address, length, protection, flags, fd, 0);
  if (result == MAP_FAILED)
    FAIL_EXIT1 ("mmap: %m");
  return result;
}

static void xmunmap (void *address, size_t length) { SUPPORT_MUST (munmap (address, length)); }
static void xmprotect (void *address, size_t length, int protection) { SUPPORT_MUST (mprotect (address, length, protection)); }

/* Memory that forked processes share; its size stands before it. */
static void *support_shared_allocate (size_t size)
{
  size_t total = size + 64;
  char *memory = xmmap (NULL, total, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | MAP_SHARED, -1);
  memcpy (memory, &total, sizeof total);
  return memory + 64;
}

static void support_shared_free (void *memory)
{
  size_t total;
  memcpy (&total, (char *) memory - 64, sizeof total);
  xmunmap ((char *) memory - 64, total);
}

static void *xmalloc (size_t size)
{
  void *memory = malloc (size);
  if (memory == NULL)
    FAIL_EXIT1 ("malloc: %m");
  return memory;
}

static void *xcalloc (size_t number, size_t size)
{
  void *memory = calloc (number, size);
  if (memory == NULL)
    FAIL_EXIT1 ("calloc: %m");
  return memory;
}

static void *xposix_memalign (size_t alignment, size_t size)
{
  void *memory;
  SUPPORT_MUST_BE_0 (posix_memalign (&memory, alignment, size));
  return memory;
}

static char *xasprintf (const char *format, ...)
{
  char *text;
  va_list arguments;
  va_start (arguments, format);
  SUPPORT_MUST (vasprintf (&text, format, arguments));
  va_end (arguments);
  return text;
}

static char *xstrdup (const char *text) { return strcpy (xmalloc (strlen (text) + 1), text); }

static pid_t xfork (void)
{
  pid_t child = fork ();
  SUPPORT_MUST (child);
  return child;
}

static pid_t xwaitpid (pid_t process, int *status, int flags)
{
  pid_t result = waitpid (process, status, flags);
  SUPPORT_MUST (result);
  return result;
}

static void xpipe (int ends[2]) { SUPPORT_MUST (pipe (ends)); }
static void xclose (int fd) { SUPPORT_MUST (close (fd)); }
static void xunlink (const char *path) { SUPPORT_MUST (unlink (path)); }
static void xftruncate (int fd, long long length) { SUPPORT_MUST (ftruncate (fd, length)); }
static void xraise (int signal) { SUPPORT_MUST_BE_0 (raise (signal)); }
static void xsigaction (int signal, const struct sigaction *new, struct sigaction *old)
{
  SUPPORT_MUST (sigaction (signal, new, old));
}

static sighandler_t xsignal (int number, sighandler_t handler)
{
  sighandler_t old = signal (number, handler);
  if (old == SIG_ERR)
    FAIL_EXIT1 ("signal: %m");
  return old;
}

static int xopen (const char *path, int flags, mode_t mode)
{
  int fd = open (path, flags, mode);
  SUPPORT_MUST (fd);
  return fd;
}

static void xwrite (int fd, const void *data, size_t length)
{
  const char *rest = data;
  while (length > 0)
    {
      ssize_t written = write (fd, rest, length);
      SUPPORT_MUST (written);
      rest += written;
      length -= written;
    }
}

static void write_message (const char *message) { (void) !write (STDOUT_FILENO, message, strlen (message)); }

static FILE *xfopen (const char *path, const char *mode)
{
  FILE *file = fopen (path, mode);
  if (file == NULL)
    FAIL_EXIT1 ("fopen %s: %m", path);
  return file;
}

static void xfclose (FILE *file) { SUPPORT_MUST (-(fclose (file) != 0)); }

static long xsysconf (int name)
{
  errno = 0;
  long result = sysconf (name);
  if (result < 0 && errno != 0)
    FAIL_EXIT1 ("sysconf: %m");
  return result;
}

static void *xdlopen (const char *path, int flags)
{
  void *library = dlopen (path, flags);
  if (library == NULL)
    FAIL_EXIT1 ("dlopen: %s", dlerror ());
  return library;
}

static void *xdlsym (void *library, const char *name)
{
  dlerror ();
  void *symbol = dlsym (library, name);
  const char *error = dlerror ();
  if (error != NULL)
    FAIL_EXIT1 ("dlsym: %s", error);
  return symbol;
}

static void xdlclose (void *library) { SUPPORT_MUST (-(dlclose (library) != 0)); }

static void add_temp_file (const char *name) { (void) name; }

static int create_temp_file (const char *base, char **name)
{
  char *path = xasprintf ("%s/%sXXXXXX", test_dir, base);
  int fd = mkstemp (path);
  if (fd >= 0 && name != NULL)
    *name = path;
  return fd;
}

static void xclock_gettime (clockid_t clock, struct timespec *time) { SUPPORT_MUST (clock_gettime (clock, time)); }

static struct timespec xclock_now (clockid_t clock)
{
  struct timespec now;
  xclock_gettime (clock, &now);
  return now;
}

static struct timespec make_timespec (time_t seconds, long nanoseconds)
{
  return (struct timespec) { seconds, nanoseconds };
}

static struct timespec timespec_add (struct timespec a, struct timespec b)
{
  struct timespec sum = { a.tv_sec + b.tv_sec, a.tv_nsec + b.tv_nsec };
  if (sum.tv_nsec >= TIMESPEC_HZ)
    sum = make_timespec (sum.tv_sec + 1, sum.tv_nsec - TIMESPEC_HZ);
  return sum;
}

static struct timespec timespec_sub (struct timespec a, struct timespec b)
{
  struct timespec difference = { a.tv_sec - b.tv_sec, a.tv_nsec - b.tv_nsec };
  if (difference.tv_nsec < 0)
    difference = make_timespec (difference.tv_sec - 1, difference.tv_nsec + TIMESPEC_HZ);
  return difference;
}

static bool support_is_before (struct timespec a, struct timespec b)
{
  return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec < b.tv_nsec);
}

#define TEST_TIMESPEC_BEFORE(left, right) TEST_VERIFY (support_is_before ((left), (right)))
#define TEST_TIMESPEC_EQUAL_OR_AFTER(left, right) TEST_VERIFY (!support_is_before ((left), (right)))
#define TEST_TIMESPEC_BEFORE_NOW(left, clock) \
  ({ int support_errno = errno; TEST_TIMESPEC_BEFORE ((left), xclock_now (clock)); errno = support_errno; })
#define TEST_TIMESPEC_NOW_OR_AFTER(clock, right) \
  ({ int support_errno = errno; TEST_TIMESPEC_EQUAL_OR_AFTER (xclock_now (clock), (right)); errno = support_errno; })

/* Of tst-stack-align.h. */
__attribute__ ((noclone, noinline)) static int support_is_misaligned (void *address, size_t alignment)
{
  return ((uintptr_t) address & (alignment - 1)) != 0;
}
#define TEST_STACK_ALIGN() \
  ({ double support_double = 12; long double support_long = 15; \
     support_is_misaligned (&support_double, __alignof (double)) \
     + support_is_misaligned (&support_long, __alignof (long double)); })

#endif
