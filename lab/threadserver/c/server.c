/* A server with threads. It answers each request of 128 bytes with as many.
 *
 *   thread-server PORT WORKERS shared|own|pool BACKEND (address:port, or a port here)
 *   thread-server PORT WORKERS sleep MILLISECONDS
 *
 * Each worker serves one connection at a time, and needs an answer of a backend:
 *   shared: on one connection, guarded by a mutex that is held until it came;
 *   own:    on a connection of the worker's;
 *   pool:   as own, beside threads that wait on a condition for work that never comes.
 * sleep: each worker takes whichever connection has a request, and sleeps before it
 * answers.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 128 };

static pthread_mutex_t backend_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct sockaddr_in backend = { .sin_family = AF_INET };
static int listener, naps, ready_set, shared = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void set_backend(char *text)
{
	char *port = strchr(text, ':');

	backend.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (port) {
		*port++ = 0;
		backend.sin_addr.s_addr = inet_addr(text);
	}
	backend.sin_port = htons(atoi(port ? port : text));
}

static int dial(void)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&backend, sizeof(backend)) < 0)
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
	int own = shared < 0 ? dial() : -1;
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

/* Takes a connection that has a request, which no other worker gets meanwhile. */
static void *napper(void *unused)
{
	struct epoll_event e;
	char buf[SIZE];

	while (epoll_wait(ready_set, &e, 1, -1) >= 0) {
		if (!whole(e.data.fd, buf)) {
			close(e.data.fd);
			continue;
		}
		usleep(naps * 1000);
		if (write(e.data.fd, buf, SIZE) != SIZE) {
			close(e.data.fd);
			continue;
		}
		e.events = EPOLLIN | EPOLLONESHOT;
		epoll_ctl(ready_set, EPOLL_CTL_MOD, e.data.fd, &e);
	}
	die("wait for requests");
	return unused;
}

static void accept_for_nappers(void)
{
	for (;;) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
		int on = 1;

		e.data.fd = accept(listener, NULL, NULL);
		if (e.data.fd < 0 || setsockopt(e.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
		    epoll_ctl(ready_set, EPOLL_CTL_ADD, e.data.fd, &e) < 0)
			die("accept");
	}
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
	void *(*work_of)(void *) = worker;
	int workers;
	pthread_t t;

	if (argc != 5)
		return 2;
	prctl(PR_SET_NAME, "thread-server");
	at.sin_port = htons(atoi(argv[1]));
	workers = atoi(argv[2]);
	if (!strcmp(argv[3], "sleep")) {
		work_of = napper;
		naps = atoi(argv[4]);
		ready_set = epoll_create1(EPOLL_CLOEXEC);
	} else {
		set_backend(argv[4]);
	}
	if (!strcmp(argv[3], "shared"))
		shared = dial();
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 128) < 0)
		die("listen");
	alarm(300);
	for (int i = 0; i < workers; i++) {
		if (pthread_create(&t, NULL, work_of, NULL))
			die("start a worker");
	}
	for (int i = 0; !strcmp(argv[3], "pool") && i < 3 * workers; i++) {
		if (pthread_create(&t, NULL, waiter, NULL))
			die("start a waiter");
	}
	puts("ready");
	fflush(stdout);
	if (work_of == napper)
		accept_for_nappers();
	pause();
	return 0;
}
