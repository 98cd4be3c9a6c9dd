// many N: so many threads. One in five queues for a lock, one in five naps, the
// others wait for work that never comes.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t idle = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void *body(void *arg) {
  long i = (long)arg;

  while (i % 5 == 0) {
    pthread_mutex_lock(&held);
    usleep(2000);
    pthread_mutex_unlock(&held);
    usleep(1000);
  }
  while (i % 5 == 1)
    usleep(200000);
  pthread_mutex_lock(&idle);
  for (;;)
    pthread_cond_wait(&never, &idle);
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atoi(argv[1]) : 1;
  pthread_attr_t small;
  pthread_t t;

  alarm(120);
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 65536);
  for (long i = 0; i < n; i++)
    if (pthread_create(&t, &small, body, (void *)i)) {
      perror("pthread_create");
      return 1;
    }
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}
