/* The service of lab/anyserver in C: workers take whichever connection has a request, as
 * those of memcached or of a thread pool behind epoll do. See anyserver.go for what it is
 * started with, and for the lines that it is told.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
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
#include <time.h>
#include <unistd.h>

struct conn {
	int fd, have;
	char buf[];
};

enum { CALL = 128, PAGE = 4096 };

static int size, ready_set, listener, journal = -1, names, needs, echo;
static char *echoed;
static const char *call_to, *refusal = "";
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long served;
static int latch, stuck_word;
static volatile int work_us, wait_us, locked, spinning, stuck, hanging, closing, leaking;
static volatile int hold_us, hold_every_us, hold_busy, limit, conns, keep, kept;
static volatile int block_us, block_every_us, heavy_us, heavy_every, grow_bytes;
static long long block_next;

/* The connections to the other service, of which a pool has so many at most. */
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_given = PTHREAD_COND_INITIALIZER;
static int pool, taken, idle_conns, idle[1024];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long micros(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static long long cpu_now(void)
{
	return micros(CLOCK_THREAD_CPUTIME_ID);
}

/* Computes for that much CPU time. */
static __attribute__((noinline)) void compute(int us)
{
	static volatile unsigned long sum;

	for (long long end = cpu_now() + us; us > 0 && cpu_now() < end;)
		for (unsigned long i = 0; i < 5000; i++)
			sum = (sum ^ i) * 0x9e3779b97f4a7c15UL;
}

static void nap(int us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000L };

	if (us > 0)
		nanosleep(&t, NULL);
}

/* A lock as people write them: taken when nobody has it, and looked at until then. */
static __attribute__((noinline)) void take(int *word)
{
	while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
		while (__atomic_load_n(word, __ATOMIC_RELAXED))
			;
}

static void give(int *word)
{
	__atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

static int open_socket(const char *at, int listens)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr *to = (struct sockaddr *)&in;
	socklen_t len = sizeof(in);
	char host[64];
	int fd, on = 1;

	if (*at == '/') {
		strncpy(here.sun_path, at, sizeof(here.sun_path) - 1);
		to = (struct sockaddr *)&here;
		len = sizeof(here);
	} else {
		strncpy(host, at, sizeof(host) - 1);
		*strchr(host, ':') = 0;
		in.sin_addr.s_addr = inet_addr(host);
		in.sin_port = htons(atoi(strchr(at, ':') + 1));
	}
	fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (listens ? bind(fd, to, len) || listen(fd, 1024) : connect(fd, to, len)) {
		close(fd);
		return -1;
	}
	if (!listens && *at != '/')
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* Takes a connection of the pool, as soon as one is free; -1: it is yet to be opened. */
static int borrow(void)
{
	int fd = -1;

	pthread_mutex_lock(&pool_lock);
	while (taken >= pool)
		pthread_cond_wait(&pool_given, &pool_lock);
	taken++;
	if (idle_conns > 0)
		fd = idle[--idle_conns];
	pthread_mutex_unlock(&pool_lock);
	return fd;
}

static void give_back(int fd)
{
	pthread_mutex_lock(&pool_lock);
	taken--;
	if (fd >= 0 && taken + idle_conns < pool)
		idle[idle_conns++] = fd;
	else if (fd >= 0)
		close(fd);
	pthread_cond_signal(&pool_given);
	pthread_mutex_unlock(&pool_lock);
}

static void set_pool(int most)
{
	pthread_mutex_lock(&pool_lock);
	pool = most;
	while (idle_conns > 0 && taken + idle_conns > pool)
		close(idle[--idle_conns]);
	pthread_cond_broadcast(&pool_given);
	pthread_mutex_unlock(&pool_lock);
}

/* Takes connections of the pool, and keeps them until it is told otherwise. */
static void *keep_conns(void *unused)
{
	int fds[1024], n = 0, mine = kept;

	for (int most = keep; n < most && mine == kept; n++) {
		fds[n] = borrow();
		if (fds[n] < 0)
			fds[n] = open_socket(call_to, 0);
	}
	while (mine == kept)
		nap(20000);
	while (n > 0)
		give_back(fds[--n]);
	return unused;
}

/* Asks another service, on a connection of the pool or on the worker's own. */
static int call(int *own)
{
	char buf[CALL] = { 0 };
	int fd = pool ? borrow() : *own, ok = 0;

	if (fd < 0)
		fd = open_socket(call_to, 0);
	if (fd >= 0) {
		ok = send(fd, buf, CALL, MSG_NOSIGNAL) == CALL && recv(fd, buf, CALL, MSG_WAITALL) == CALL;
		if (!ok) {
			close(fd);
			fd = -1;
		}
	}
	if (pool)
		give_back(fd);
	else
		*own = fd;
	return ok;
}

static void look_up(void)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM }, *found;

	if (!getaddrinfo("backend.example.", "80", &hints, &found))
		freeaddrinfo(found);
}

/* Takes memory that nobody gives back. */
static void grow(int bytes)
{
	static char *volatile taken; /* or the compiler leaves out what nobody reads */

	if (bytes > 0 && (taken = malloc(bytes)))
		memset(taken, 1, bytes);
}

/* True when the request is to be answered. */
static int handle(int *backend)
{
	static const char page[PAGE];
	int has_lock = locked, has_latch = spinning, every = heavy_every, ok = 1;
	unsigned long number;

	pthread_mutex_lock(&table_lock);
	number = ++served;
	if (!has_lock)
		pthread_mutex_unlock(&table_lock);
	if (has_latch)
		take(&latch);
	while (hanging)
		nap(20000);
	if (names)
		look_up();
	if (call_to)
		ok = call(backend) || !needs;
	if (ok) {
		grow(grow_bytes);
		compute(work_us);
		if (every && number % every == 0)
			compute(heavy_us);
		nap(wait_us);
	}
	if (ok && journal >= 0 && (write(journal, page, PAGE) != PAGE || fdatasync(journal)))
		ok = 0;
	if (ok && echo && write(STDOUT_FILENO, echoed, echo) != echo)
		perror("write to the standard output");
	if (has_latch)
		give(&latch);
	if (has_lock)
		pthread_mutex_unlock(&table_lock);
	return ok;
}

/* Reads what there is of a request; true when it is whole, -1 when the peer is gone. */
static int whole(struct conn *c)
{
	ssize_t n = recv(c->fd, c->buf + c->have, size - c->have, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		return -1;
	c->have += n > 0 ? n : 0;
	return c->have == size;
}

/* A long task that falls due again and again: whichever worker sees it first does it. */
static void do_what_is_due(void)
{
	long long now = micros(CLOCK_MONOTONIC), due = __atomic_load_n(&block_next, __ATOMIC_RELAXED);

	if (now >= due && __atomic_compare_exchange_n(&block_next, &due, now + block_every_us, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		compute(block_us);
}

static void drop(struct conn *c)
{
	close(c->fd);
	free(c);
	__atomic_sub_fetch(&conns, 1, __ATOMIC_RELAXED);
}

static void *worker(void *unused)
{
	struct epoll_event e;
	int backend = -1, is;

	for (;;) {
		int n = epoll_wait(ready_set, &e, 1, block_us ? 10 : -1);

		if (block_us)
			do_what_is_due();
		if (n < 1)
			continue;
		struct conn *c = e.data.ptr;
		if (closing) { /* answers, and closes with the request unread */
			send(c->fd, c->buf, size, MSG_NOSIGNAL);
			drop(c);
			continue;
		}
		is = whole(c);
		if (is > 0) {
			is = handle(&backend) ? 0 : -1;
			c->have = 0;
			if (leaking)
				fcntl(c->fd, F_DUPFD_CLOEXEC, 3);
			if (is == 0 && send(c->fd, c->buf, size, MSG_NOSIGNAL) != size)
				is = -1;
		}
		if (is < 0) {
			drop(c);
			continue;
		}
		e.events = EPOLLIN | EPOLLONESHOT;
		epoll_ctl(ready_set, EPOLL_CTL_MOD, c->fd, &e);
	}
	return unused;
}

static void *acceptor(void *unused)
{
	for (;;) {
		struct epoll_event e = { .events = EPOLLIN | EPOLLONESHOT };
		struct conn *c;
		int on = 1, fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0) { /* EMFILE: as servers do, it tries again */
			nap(10000);
			continue;
		}
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		if (limit && conns >= limit) {
			send(fd, refusal, strlen(refusal), MSG_NOSIGNAL);
			close(fd);
			continue;
		}
		__atomic_add_fetch(&conns, 1, __ATOMIC_RELAXED);
		c = calloc(1, sizeof(*c) + size);
		c->fd = fd;
		e.data.ptr = c;
		if (epoll_ctl(ready_set, EPOLL_CTL_ADD, fd, &e) < 0)
			die("watch a connection");
	}
	return unused;
}

/* Housekeeping takes the lock that requests take for a moment, and keeps it for longer. */
static void *keeper(void *unused)
{
	while (hold_us > 0) {
		pthread_mutex_lock(&table_lock);
		if (hold_busy)
			compute(hold_us);
		else
			nap(hold_us);
		pthread_mutex_unlock(&table_lock);
		nap(hold_every_us);
	}
	return unused;
}

static void *seeker(void *unused)
{
	take(&stuck_word);
	give(&stuck_word);
	return unused;
}

static void begin(void *(*what)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, what, NULL))
		die("start a thread");
	pthread_detach(t);
}

static void told(const char *line)
{
	char word[16] = "", how[8] = "";
	int a = 0, b = 0, was = hold_us;

	sscanf(line, "%15s %d %d %7s", word, &a, &b, how);
	if (!strcmp(word, "work"))
		work_us = a;
	else if (!strcmp(word, "wait"))
		wait_us = a;
	else if (!strcmp(word, "lock"))
		locked = a;
	else if (!strcmp(word, "spin"))
		spinning = a;
	else if (!strcmp(word, "hang"))
		hanging = a;
	else if (!strcmp(word, "close"))
		closing = a;
	else if (!strcmp(word, "leak"))
		leaking = a;
	else if (!strcmp(word, "grow"))
		grow_bytes = a;
	else if (!strcmp(word, "die"))
		_exit(a);
	else if (!strcmp(word, "heavy")) {
		heavy_us = a;
		heavy_every = b;
	} else if (!strcmp(word, "block")) {
		block_every_us = b;
		block_us = a;
	} else if (!strcmp(word, "limit"))
		limit = a;
	else if (!strcmp(word, "pool"))
		set_pool(a);
	else if (!strcmp(word, "keep")) {
		keep = a;
		kept++;
		if (a)
			begin(keep_conns);
	} else if (!strcmp(word, "hold")) {
		hold_every_us = b;
		hold_busy = *how == 'w';
		hold_us = a;
		if (!was && a)
			begin(keeper);
	} else if (!strcmp(word, "stuck")) {
		if (a && !stuck)
			take(&stuck_word); /* and nobody gives it back until it is told to */
		else if (!a && stuck)
			give(&stuck_word);
		stuck = a;
		while (a-- > 0)
			begin(seeker);
	}
}

int main(int argc, char **argv)
{
	char line[128];
	FILE *control;
	int workers;

	if (argc < 7)
		return 2;
	prctl(PR_SET_NAME, strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
	signal(SIGPIPE, SIG_IGN);
	alarm(300);
	size = atoi(argv[2]);
	workers = atoi(argv[3]);
	work_us = atoi(argv[4]);
	wait_us = atoi(argv[5]);
	for (int i = 7; i < argc; i++) {
		if (!strncmp(argv[i], "call=", 5))
			call_to = argv[i] + 5;
		else if (!strncmp(argv[i], "journal=", 8))
			journal = open(argv[i] + 8, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
		else if (!strncmp(argv[i], "limit=", 6))
			limit = atoi(argv[i] + 6);
		else if (!strncmp(argv[i], "pool=", 5))
			pool = atoi(argv[i] + 5);
		else if (!strncmp(argv[i], "refusal=", 8))
			refusal = argv[i] + 8;
		else if (!strncmp(argv[i], "echo=", 5))
			echo = atoi(argv[i] + 5);
		else if (!strcmp(argv[i], "names=1"))
			names = 1;
		else if (!strcmp(argv[i], "needs=1"))
			needs = 1;
	}
	echoed = malloc(echo + 1);
	memset(echoed, 'x', echo);
	if (echo)
		echoed[echo - 1] = '\n';
	ready_set = epoll_create1(EPOLL_CLOEXEC);
	listener = open_socket(argv[1], 1);
	if (listener < 0 || ready_set < 0)
		die("listen");
	while (workers-- > 0)
		begin(worker);
	begin(acceptor);
	puts("ready");
	fflush(stdout);
	control = fopen(argv[6], "r+");
	if (!control)
		die("open the control pipe");
	while (fgets(line, sizeof(line), control))
		told(line);
	pause();
	return 0;
}
