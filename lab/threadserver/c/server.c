/* A server with threads. It answers each request of 128 bytes with as many.
 *
 *   thread-server PORT WORKERS shared|own|pool BACKEND (address:port, a port here, or a path)
 *   thread-server PORT WORKERS sleep MILLISECONDS
 *   thread-server PORT WORKERS names MILLISECONDS
 *
 * Each worker serves one connection at a time, and needs an answer of a backend:
 *   shared: on one connection, guarded by a mutex that is held until it came;
 *   own:    on a connection of the worker's;
 *           NAP_MS in the environment: it sleeps as long besides;
 *   pool:   as own, beside threads that wait on a condition for work that never comes.
 *   thread-server PORT WORKERS spin|mutex|latch|count MORE
 *
 * sleep: each worker takes whichever connection has a request, and sleeps before it
 * answers.
 * names: so it does, and looks a name up before that.
 * spin, mutex, latch, count: so it does, and computes: under one lock, which spins,
 * sleeps, or is a loop of the program's own; or under none, beside a counter that all
 * add to, with more to compute. MORE workers begin with SIGUSR1.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { SIZE = 128 };

static pthread_mutex_t backend_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t table_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t table_spin;
static pthread_mutex_t work_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static struct sockaddr_in backend = { .sin_family = AF_INET };
static struct sockaddr_un backend_here = { .sun_family = AF_UNIX };
static int names; /* look one up for each request */
static int locked; /* computes; 's'pins, 'm'utex, 'l'atch, 'c'ount */
static int latch;
static unsigned long served;
static int listener, naps, ready_set, shared = -1;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void set_backend(char *text)
{
	char *port = strchr(text, ':');

	if (*text == '/') {
		strncpy(backend_here.sun_path, text, sizeof(backend_here.sun_path) - 1);
		return;
	}
	backend.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (port) {
		*port++ = 0;
		backend.sin_addr.s_addr = inet_addr(text);
	}
	backend.sin_port = htons(atoi(port ? port : text));
}

static int dial(void)
{
	int here = backend_here.sun_path[0];
	int fd = socket(here ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr *to = here ? (struct sockaddr *)&backend_here : (struct sockaddr *)&backend;

	if (fd < 0 || connect(fd, to, here ? sizeof(backend_here) : sizeof(backend)) < 0)
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
				if (naps)
					usleep(naps * 1000);
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

/* glibc asks the servers of resolv.conf, one after the other. */
static void look_up(void)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;

	if (!getaddrinfo("backend.example.", "80", &hints, &found))
		freeaddrinfo(found);
}

/* A lock as people write them: taken when nobody has it, and looked at until then. */
static __attribute__((noinline)) void take_latch(void)
{
	while (__atomic_exchange_n(&latch, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(&latch, __ATOMIC_RELAXED))
			;
}

static unsigned long checksum(unsigned long seed, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		seed = (seed ^ i) * 0x9e3779b97f4a7c15UL;
		if (i % 64 == 0)
			__atomic_fetch_add(&served, 1, __ATOMIC_RELAXED);
	}
	return seed;
}

/* About 0.2 ms of work on what all workers share; without a lock 4 ms on its own. */
static __attribute__((noinline)) void compute(void)
{
	static volatile unsigned long table[512];

	if (locked == 'c') {
		table[0] = checksum((unsigned long)&table, 3000000);
		return;
	}
	if (locked == 's')
		pthread_spin_lock(&table_spin);
	else if (locked == 'l')
		take_latch();
	else
		pthread_mutex_lock(&table_mutex);
	for (int i = 0; i < 200000; i++)
		table[i % 512] += i;
	if (locked == 's')
		pthread_spin_unlock(&table_spin);
	else if (locked == 'l')
		__atomic_store_n(&latch, 0, __ATOMIC_RELEASE);
	else
		pthread_mutex_unlock(&table_mutex);
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
		if (names)
			look_up();
		if (locked)
			compute();
		else if (naps)
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

static void *accept_for_nappers(void *unused)
{
	for (;;) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
		int on = 1;

		e.data.fd = accept(listener, NULL, NULL);
		if (e.data.fd < 0 || setsockopt(e.data.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) < 0 ||
		    epoll_ctl(ready_set, EPOLL_CTL_ADD, e.data.fd, &e) < 0)
			die("accept");
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
	void *(*work_of)(void *) = worker;
	int workers, more = 0, sig;
	sigset_t usr1;
	pthread_t t;

	if (argc != 5)
		return 2;
	prctl(PR_SET_NAME, "thread-server");
	at.sin_port = htons(atoi(argv[1]));
	workers = atoi(argv[2]);
	names = !strcmp(argv[3], "names");
	if (names || !strcmp(argv[3], "sleep") || !strcmp(argv[3], "spin") || !strcmp(argv[3], "mutex") ||
	    !strcmp(argv[3], "latch") || !strcmp(argv[3], "count")) {
		work_of = napper;
		naps = more = atoi(argv[4]);
		locked = names || !strcmp(argv[3], "sleep") ? 0 : argv[3][0];
		pthread_spin_init(&table_spin, PTHREAD_PROCESS_PRIVATE);
		ready_set = epoll_create1(EPOLL_CLOEXEC);
	} else {
		set_backend(argv[4]);
		naps = getenv("NAP_MS") ? atoi(getenv("NAP_MS")) : 0;
	}
	if (!strcmp(argv[3], "shared"))
		shared = dial();
	listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(listener, 128) < 0)
		die("listen");
	alarm(300);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, NULL);
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
	if (work_of == napper && pthread_create(&t, NULL, accept_for_nappers, NULL))
		die("start to accept");
	sigwait(&usr1, &sig);
	for (int i = 0; locked && i < more; i++) {
		if (pthread_create(&t, NULL, work_of, NULL))
			die("start a worker");
	}
	pause();
	return 0;
}
