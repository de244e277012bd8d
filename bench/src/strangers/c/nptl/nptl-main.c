/* In the place of glibc's support/test-driver.c and test-skeleton.c: runs the test in this very process. A test that ends in
   time is not asked for, since time is virtual. */
#include "nptl-support.h"

#if defined EXPECTED_SIGNAL || defined EXPECTED_STATUS
#error to pass, it has to be killed or to exit with an error, which is a failure to us
#endif
#ifdef CMDLINE_OPTIONS
#error it starts itself with arguments that only the driver of glibc knows
#endif

int main (int argc, char **argv)
{
#ifdef PREPARE
  PREPARE (argc, argv);
#endif
#if defined TEST_FUNCTION_ARGV
  int status = TEST_FUNCTION_ARGV (argc, argv);
#elif defined TEST_FUNCTION
  /* A whole call, in older tests. */
  int status = TEST_FUNCTION;
#else
  /* Some take the arguments, most do not. */
  int status = ((int (*) (int, char **)) do_test) (argc, argv);
#endif
  return support_report_failure (status);
}
