/* What a cursor answers besides "here is an element". */
#ifndef CURSOR_H
#define CURSOR_H

/* The container was changed since the cursor was made: a failure of the call that iterates. */
#define CHANGED (-2)
#define AT_END 0

#endif
