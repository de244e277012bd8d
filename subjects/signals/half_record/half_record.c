// A handler reads a record of two fields that the program is just changing.
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
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, NULL);
    alarm(1);
    window.width = 2;
    window.height = 2;
    alarm(0);
    return 0;
}
