// Spins and naps in turn, for so many seconds.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

__attribute__((noinline)) static int spin(void) {
  struct timespec begin, now;

  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec -
             begin.tv_nsec <
         50000000);
  return 0;
}

int main(int argc, char **argv) {
  time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

  while (time(NULL) < end && !spin())
    usleep(20000);
  return 0;
}
