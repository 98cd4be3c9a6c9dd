// Programs whose waits are known, each a mode of this one. Each says "ready", begins
// when it is given a line, and at the end says what it counted itself.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

// cpu is the CPU time of all threads so far, the kernel's on their behalf included.
static double cpu(void)
{
	struct rusage r;
	getrusage(RUSAGE_SELF, &r);
	return r.ru_utime.tv_sec + r.ru_stime.tv_sec + (r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

static void nap(long us)
{
	struct timespec t = {us / 1000000, us % 1000000 * 1000};
	while (nanosleep(&t, &t) && errno == EINTR) {}
}

static int from_backend[2];
static double lasts, until; // seconds; when that is over
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static atomic_long waits;
static _Atomic double waited;

static void add(double seconds)
{
	double was = waited;
	while (!atomic_compare_exchange_weak(&waited, &was, was + seconds)) {}
	waits++;
}

// A lock of our own, whose word tells no owner (Drepper, "Futexes are tricky").
static atomic_int word;

static void own_lock(void)
{
	int c = 0;
	if (atomic_compare_exchange_strong(&word, &c, 1))
		return;
	if (c != 2)
		c = atomic_exchange(&word, 2);
	while (c) {
		double t = now();
		if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0) == 0)
			add(now() - t);
		c = atomic_exchange(&word, 2);
	}
}

static void own_unlock(void)
{
	if (atomic_fetch_sub(&word, 1) != 1) {
		word = 0;
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

NOINLINE static int ask_backend_under_lock(void)
{
	char c;
	int n = read(from_backend[0], &c, 1);
	return n + 1; // no tail call: its frame stays
}

NOINLINE static int own_section(void)
{
	nap(2000);
	own_unlock();
	return 1;
}

static void *backend(void *x)
{
	for (;;) {
		nap(3000);
		if (write(from_backend[1], "x", 1) != 1)
			return x;
	}
}

NOINLINE static void wait_for_lock(void)
{
	if (pthread_mutex_trylock(&mutex)) {
		double t = now();
		pthread_mutex_lock(&mutex);
		add(now() - t);
	}
}

static void *convoy(void *x)
{
	pthread_barrier_wait(&begun);
	while (now() < until) {
		wait_for_lock();
		ask_backend_under_lock();
		pthread_mutex_unlock(&mutex);
		nap(100);
	}
	return x;
}

static void *own(void *x)
{
	pthread_barrier_wait(&begun);
	while (now() < until) {
		own_lock();
		own_section();
		nap(100);
	}
	return x;
}

NOINLINE static int reads_the_catalogue(void)
{
	char c;
	return read(from_backend[0], &c, 1) + 1;
}

NOINLINE static int reads_the_stock(void)
{
	char c;
	return read(from_backend[0], &c, 1) + 2;
}

static int ping[2], pong[2];
static long turns;

NOINLINE static int serve_ping(void)
{
	char c;
	if (read(ping[0], &c, 1) != 1)
		return 0;
	return write(pong[1], &c, 1) == 1;
}

static void *server(void *x)
{
	pthread_setname_np(pthread_self(), "server");
	while (serve_ping()) {}
	return x;
}

// Two threads that hand a word to each other.
static void *lock_heavy(void *x)
{
	static atomic_int threads_so_far;
	int me = threads_so_far++;
	pthread_barrier_wait(&begun);
	for (long i = 0; i < turns; i++) {
		while (word != me)
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, !me, NULL, NULL, 0);
		word = !me;
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return x;
}

static void over_tcp(void)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0), c = socket(AF_INET, SOCK_STREAM, 0), s, one = 1;

	if (bind(l, (void *)&a, n) || listen(l, 1) || getsockname(l, (void *)&a, &n) || connect(c, (void *)&a, n) || (s = accept(l, NULL, NULL)) < 0)
		exit(2);
	setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	ping[1] = pong[0] = c;
	ping[0] = pong[1] = s;
}

static void *sleeps(void *x)
{
	while (now() < until)
		nap(50000);
	return x;
}

static void *brief(void *x)
{
	nap(5000);
	return x;
}

static void *pool(void *x)
{
	static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
	pthread_barrier_wait(&begun);
	pthread_mutex_lock(&mutex);
	for (;;)
		pthread_cond_wait(&work, &mutex);
	return x;
}

static void threads(int n, void *(*f)(void *), int join)
{
	pthread_t *t = calloc(n, sizeof(*t));
	pthread_attr_t a;
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 65536);
	pthread_barrier_init(&begun, NULL, n + 1);
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], &a, f, NULL))
			exit(2);
	if (f == convoy || f == own || f == lock_heavy || f == pool) {
		printf("ready\n");
		fflush(stdout);
		while (getchar() != '\n') {}
		until = now() + lasts;
		pthread_barrier_wait(&begun);
	}
	for (int i = 0; join && i < n; i++)
		pthread_join(t[i], NULL);
}

static void begin(void)
{
	printf("ready\n");
	fflush(stdout);
	while (getchar() != '\n') {}
}

int main(int argc, char **argv)
{
	const char *mode = argv[1];
	int n = argc > 2 ? atoi(argv[2]) : 0;
	double t;

	lasts = argc > 3 ? atof(argv[3]) : 0;
	if (pipe(from_backend) || pipe(ping) || pipe(pong))
		return 2;
	if (!strcmp(mode, "convoy")) {
		pthread_t b;
		pthread_create(&b, NULL, backend, NULL);
		threads(n, convoy, 1);
	} else if (!strcmp(mode, "own")) {
		threads(n, own, 1);
	} else if (!strcmp(mode, "pool")) {
		threads(n, pool, 0);
		nap(1500000);
	} else if (!strcmp(mode, "sleep")) {
		begin();
		t = now();
		for (int i = 0; i < n; i++)
			nap(20000);
		waits = n;
		waited = now() - t;
	} else if (!strcmp(mode, "pingpong") || !strcmp(mode, "tcp")) {
		if (!strcmp(mode, "tcp"))
			over_tcp();
		pthread_t s;
		char c = 0;
		pthread_create(&s, NULL, server, NULL);
		begin();
		t = now();
		for (turns = 0; turns < n; turns++)
			if (write(ping[1], &c, 1) != 1 || read(pong[0], &c, 1) != 1)
				return 2;
		waits = n;
		waited = now() - t;
	} else if (!strcmp(mode, "futex")) {
		turns = n;
		t = now();
		threads(2, lock_heavy, 1);
		waits = 2L * n;
		waited = now() - t;
	} else if (!strcmp(mode, "callers")) {
		pthread_t b;
		begin();
		pthread_create(&b, NULL, backend, NULL);
		for (int i = 0; i < n; i++)
			waits += reads_the_catalogue() + reads_the_stock();
	} else if (!strcmp(mode, "many")) {
		begin();
		until = now() + 1.2;
		threads(n, sleeps, 1);
	} else if (!strcmp(mode, "brief")) {
		begin();
		for (int i = 0; i < n; i++)
			threads(20, brief, 1);
		_exit(0);
	} else if (!strcmp(mode, "hog")) { // of the highest priority, 120 ms at a time
		struct sched_param p = {.sched_priority = 10};
		if (sched_setscheduler(0, SCHED_FIFO, &p))
			return 3;
		begin();
		for (int i = 0; i < n; i++) {
			for (t = now() + 0.12; now() < t;) {}
			nap(80000);
		}
	} else if (!strcmp(mode, "ticks")) { // wants its CPU each ms
		begin();
		until = now() + n / 1000.0;
		while (now() < until)
			nap(1000);
	}
	printf("counted %ld %f %f\n", (long)waits, (double)waited, cpu());
	fflush(stdout);
	while (getchar() != EOF) {}
	return 0;
}
