// expect: pass
// Until it is joined, a thread that has ended can be sent signals, which are lost.
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void handle(int signal) { (void)signal; _exit(1); }
static void *work(void *unused) { return unused; }

int main(void) {
    pthread_t t;
    signal(SIGUSR1, handle);
    signal(SIGUSR2, SIG_IGN);
    pthread_create(&t, 0, work, 0);
    assert(pthread_kill(t, SIGUSR2) == 0);
    assert(pthread_kill(t, 0) == 0);
    usleep(1000);
    assert(pthread_kill(t, 0) == 0);
    assert(pthread_join(t, 0) == 0);
}
