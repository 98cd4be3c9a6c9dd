// storm N: processes that fork and end, without end, at most so many at a time.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int most = argc > 1 ? atoi(argv[1]) : 1, alive = 0;

  alarm(120);
  if (nice(10) < 0)
    return 1;
  puts("ready");
  fflush(stdout);
  for (;;) {
    pid_t p = fork();

    if (p == 0) {
      if (fork() == 0)
        _exit(0);
      _exit(0);
    }
    if (p > 0)
      alive++;
    while (alive > 0 && waitpid(-1, NULL, alive >= most ? 0 : WNOHANG) > 0)
      alive--;
  }
}
