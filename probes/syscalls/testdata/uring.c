// SPDX-License-Identifier: Apache-2.0
// Known numbers of operations of io_uring, once a line has come on standard input; then
// one that goes on until another comes. SQPOLL=1: a thread of the kernel submits.
#include <fcntl.h>
#include <liburing.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ROUNDS 10

static struct io_uring ring;
static unsigned long tag = 1;

static struct io_uring_sqe *next(void)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

	if (!sqe)
		abort();
	return sqe;
}

/* Submits what was prepared and takes n completions; their sum of results. */
static long run(int n)
{
	struct io_uring_cqe *cqe;
	long sum = 0;

	io_uring_submit(&ring);
	while (n-- > 0) {
		if (io_uring_wait_cqe(&ring, &cqe))
			abort();
		sum += cqe->res;
		io_uring_cqe_seen(&ring, cqe);
	}
	return sum;
}

static struct io_uring_sqe *tagged(struct io_uring_sqe *sqe)
{
	io_uring_sqe_set_data64(sqe, tag++);
	return sqe;
}

/* A line on standard input; false at its end. */
static int told(void)
{
	char c;

	while (read(0, &c, 1) == 1)
		if (c == '\n')
			return 1;
	return 0;
}

int main(void)
{
	static char buffer[4096];
	int zero = open("/dev/zero", O_RDONLY), pair[2], events[2], byte, round, i;
	struct io_uring_params p = {.flags = getenv("SQPOLL") ? IORING_SETUP_SQPOLL : 0,
				    .sq_thread_idle = 200};
	struct io_uring_cqe *cqe;

	if (io_uring_queue_init_params(256, &ring, &p))
		return 2;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(events))
		return 2;
	printf("fds %d %d %d %d\n", zero, pair[0], pair[1], events[0]);
	fflush(stdout);
	if (!told())
		return 2;
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 50; i++) /* all of the same user_data */
			io_uring_prep_nop(next());
		run(50);
		for (i = 0; i < 100; i++) {
			struct io_uring_sqe *sqe = next();

			io_uring_prep_read(sqe, zero, buffer, sizeof(buffer), 0);
			tagged(sqe);
		}
		if (run(100) != 100 * 4096)
			return 3;
		for (i = 0; i < 30; i++) {
			struct io_uring_sqe *sqe = next();

			io_uring_prep_send(sqe, pair[0], buffer, 10, 0);
			tagged(sqe);
		}
		run(30);
		for (i = 0; i < 30; i++) {
			struct io_uring_sqe *sqe = next();

			io_uring_prep_recv(sqe, pair[1], buffer, 10, 0);
			tagged(sqe);
		}
		if (run(30) != 300)
			return 3;
		for (i = 0; i < 5; i++) {
			struct io_uring_sqe *sqe = next();

			io_uring_prep_openat(sqe, AT_FDCWD, "/does/not/exist", O_RDONLY, 0);
			tagged(sqe);
		}
		if (run(5) != -10)
			return 3;
	}
	/* One request, 20 completions, and that of its removal: since 5.13, as tags are. */
	struct io_uring_sqe *sqe;

	if (!(p.features & IORING_FEAT_RSRC_TAGS))
		goto single;
	sqe = next();
	io_uring_prep_poll_multishot(sqe, events[0], POLLIN);
	io_uring_sqe_set_data64(sqe, 777777);
	run(0);
	for (i = 0; i < 20; i++) {
		if (write(events[1], "x", 1) != 1)
			return 3;
		run(1);
		if (read(events[0], &byte, 1) != 1)
			return 3;
	}
	sqe = next();
	io_uring_prep_poll_remove(sqe, 777777);
	tagged(sqe);
	run(2);
single:
	if (p.features & IORING_FEAT_CQE_SKIP) {
		for (i = 0; i < 40; i++) {
			sqe = next();
			io_uring_prep_nop(sqe);
			io_uring_sqe_set_flags(sqe, IOSQE_CQE_SKIP_SUCCESS);
		}
		run(0);
	}
	/* Waits until it is let go. */
	sqe = next();
	io_uring_prep_recv(sqe, pair[1], buffer, 10, 0);
	tagged(sqe);
	io_uring_submit(&ring);
	printf("done\n");
	fflush(stdout);
	if (told() && send(pair[0], "late", 4, 0) == 4 && !io_uring_wait_cqe(&ring, &cqe)) {
		printf("let go\n");
		fflush(stdout);
	}
	while (told())
		;
	return 0;
}
