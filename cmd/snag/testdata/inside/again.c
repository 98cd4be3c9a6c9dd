// again PID PROGRAM…: runs a program under a number that is free, or will be
// soon.
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv) {
  pid_t want = argc > 2 ? atoi(argv[1]) : 0;
  struct clone_args args = {
      .exit_signal = SIGCHLD, .set_tid = (uintptr_t)&want, .set_tid_size = 1};
  long pid = -1;
  int status;

  for (int i = 0; i < 500 && pid < 0; i++) {
    pid = syscall(SYS_clone3, &args, sizeof(args));
    if (pid < 0 && errno != EEXIST) {
      perror("clone3");
      return 1;
    }
    if (pid < 0)
      usleep(1000);
  }
  if (!pid) {
    execv(argv[2], argv + 2);
    _exit(127);
  }
  return pid != want || waitpid(want, &status, 0) != want || status;
}
