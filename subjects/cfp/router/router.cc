// A packet router put together from elements, in the shape of Click.
//
//   router NAME [PACKETS]     one of the configurations in configurations.h
//   router - [PACKETS]        a configuration from stdin
//
// A configuration names elements and how packets go from one to the next. Two threads run the elements that
// make packets move: one receives and queues, the other takes from the queues and sends. Main looks at
// the figures of all elements now and then, resets the arrival counter, and brings in new routes.
//
// The bugs:
// * Main replaces the routing table and deletes the old one while a thread may be looking into it
//   (`LookupRoute::replace_table` against `LookupRoute::push`).
// * Main reads the arrival counter and sets it to 0 in two steps, and a packet that arrives in between is never
//   counted (`Counter::take` against `Counter::simple_action`).
// The other figures race as well; they are looked at and nothing depends on them.

#include <pthread.h>

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "driver.h"
#include "packet.h"
#include "element.h"
#include "elements/sources.h"
#include "elements/checks.h"
#include "elements/marks.h"
#include "elements/queues.h"
#include "elements/schedulers.h"
#include "elements/routing.h"
#include "elements/senders.h"
#include "elements/rewriting.h"
#include "catalogue.h"
#include "configuration.h"
#include "configurations.h"
#include "control.h"

static void *run_worker(void *number)
{
    driver.work(*static_cast<int *>(number));
    return nullptr;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3)
        give_up("say which configuration to run; configurations.h lists them");
    if (argc == 3)
        TraceSource::set_packets(argv[2]);
    Router router;
    Configuration(text_of(argv[1]), router).read();
    router.initialize();

    pthread_t workers[Driver::WORKERS];
    int numbers[Driver::WORKERS];
    for (int i = 0; i < Driver::WORKERS; i++) {
        numbers[i] = i;
        if (pthread_create(&workers[i], nullptr, run_worker, &numbers[i]) != 0)
            give_up("a thread could not be started");
    }
    Control control(router);
    control.attend();
    for (pthread_t worker : workers)
        pthread_join(worker, nullptr);
    return control.finish() ? 0 : 1;
}
