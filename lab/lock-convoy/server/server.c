/* A server with a thread for each of its workers, which take connections from one
 * listener. Each request needs an answer of a backend.
 *
 *   lock-server PORT BACKEND-PORT WORKERS shared|own|pool
 *
 * shared: one connection to the backend, guarded by a mutex that is held until the
 *         backend has answered.
 * own:    a connection to the backend for each worker.
 * pool:   as own, with workers more that wait on a condition for work that never
 *         comes.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 128 };

static pthread_mutex_t backend_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int listener, backend_port, shared = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int dial(int port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0)
		die("connect to the backend");
	return fd;
}

static int whole(int fd, char *buf)
{
	size_t have = 0;

	while (have < SIZE) {
		ssize_t n = read(fd, buf + have, SIZE - have);
		if (n <= 0)
			return 0;
		have += n;
	}
	return 1;
}

static void ask(int fd, char *buf)
{
	if (write(fd, buf, SIZE) != SIZE || !whole(fd, buf))
		die("ask the backend");
}

static void *worker(void *unused)
{
	int own = shared < 0 ? dial(backend_port) : -1;
	char buf[SIZE];

	for (;;) {
		int c = accept(listener, NULL, NULL), on = 1;
		/* An answer must not wait for the ACK of the one before. */
		if (c < 0 || setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0)
			die("accept");
		while (whole(c, buf)) {
			if (shared < 0) {
				ask(own, buf);
			} else {
				pthread_mutex_lock(&backend_lock);
				ask(shared, buf);
				pthread_mutex_unlock(&backend_lock);
			}
			if (write(c, buf, SIZE) != SIZE)
				break;
		}
		close(c);
	}
	return unused;
}

static void *waiter(void *unused)
{
	pthread_mutex_lock(&work_lock);
	for (;;)
		pthread_cond_wait(&work, &work_lock);
	return unused;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	pthread_t t;

	if (argc != 5)
		return 2;
	prctl(PR_SET_NAME, "lock-server");
	at.sin_port = htons(atoi(argv[1]));
	backend_port = atoi(argv[2]);
	if (!strcmp(argv[4], "shared"))
		shared = dial(backend_port);
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 128) < 0)
		die("listen");
	for (int i = 0; i < atoi(argv[3]); i++) {
		if (pthread_create(&t, NULL, worker, NULL))
			die("start a worker");
	}
	for (int i = 0; !strcmp(argv[4], "pool") && i < 3 * atoi(argv[3]); i++) {
		if (pthread_create(&t, NULL, waiter, NULL))
			die("start a waiter");
	}
	puts("ready");
	fflush(stdout);
	sleep(300);
	return 0;
}
