/* Lets a test ask whether some interleaving gets to a place: started with the place's name, the
   program ends there with status 42. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *goal = "";

#define GOAL(argc, argv) (goal = (argc) > 1 ? (argv)[1] : "")

static inline void reached(const char *place) {
    if (strcmp(goal, place) == 0) _exit(42);
}
