// expect: pass
// A handler gives the program one more second, and then lets the system end it. That is for programs that hang.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t is_warned;

static void handle(int number) {
    signal(number, SIG_DFL);
    alarm(1);
    is_warned = 1;
}

static void *work(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    pthread_create(&t, 0, work, 0);
    pthread_join(t, 0);
    signal(SIGALRM, handle);
    alarm(1);
    while (!is_warned) sleep(1);
}
