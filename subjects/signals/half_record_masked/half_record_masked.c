// As half_record, with the signal blocked while the record changes.
#include <assert.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static struct { int width, height; } window = {1, 1};

static void on_alarm(int signal) {
    (void)signal;
    assert(window.width == window.height);
}

int main(void) {
    struct sigaction action;
    sigset_t alarms, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    alarm(1);
    sigprocmask(SIG_BLOCK, &alarms, &before);
    window.width = 2;
    window.height = 2;
    sigprocmask(SIG_SETMASK, &before, NULL);
    alarm(0);
    return 0;
}
