/* Makes the same calls each time it runs, once it is told to by a byte on its input:
 * errors, threads, signals that interrupt, children, execve(2). */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int told[2];

static void nothing(int sig) { (void)sig; }

static void *thread(void *arg)
{
	(void)arg;
	for (int i = 0; i < 700; i++)
		syscall(SYS_getppid);
	if (write(told[1], "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* From now on getsid(2) is refused before it begins. */
static int refuse(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = {sizeof(f) / sizeof(f[0]), f};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p);
}

int main(void)
{
	struct pollfd input = {0, POLLIN, 0};
	struct timespec ms = {0, 1000000};
	char buffer[512];
	pthread_t t;
	int ends[2];

	if (poll(&input, 1, -1) != 1 || read(0, buffer, 1) != 1 || pipe(ends) || pipe(told))
		return 1;
	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	for (int i = 0; i < 500; i++)
		(void)!write(-1, buffer, 10);
	for (int i = 0; i < 300; i++)
		if (write(ends[1], buffer, 200) != 200 || pread(ends[0], buffer, 1, 0) != -1 || read(ends[0], buffer, sizeof(buffer)) != 200)
			return 1;
	/* pause(2) that a signal ends, and nanosleep(2) that one interrupts. */
	signal(SIGALRM, nothing);
	for (int i = 0; i < 5; i++) {
		struct itimerval once = {{0, 0}, {0, 5000}};
		setitimer(ITIMER_REAL, &once, NULL);
		pause();
	}
	for (int i = 0; i < 20; i++)
		syscall(SYS_nanosleep, &ms, NULL);
	if (pthread_create(&t, NULL, thread, NULL) || read(told[0], buffer, 1) != 1)
		return 1;
	for (int i = 0; i < 40; i++) {
		pid_t child = fork();
		if (!child) {
			for (int j = 0; j < 50; j++)
				syscall(SYS_getuid);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
	if (refuse())
		return 1;
	for (int i = 0; i < 25; i++)
		syscall(SYS_getsid, 0);
#ifdef __x86_64__
	if (getenv("COMPAT")) /* a 32-bit call out of a 64-bit program: getppid is number 64 */
		for (int i = 0; i < 150; i++) {
			long r;
			__asm__ volatile("int $0x80" : "=a"(r) : "a"(64) : "memory", "r8", "r9", "r10", "r11");
		}
#endif
	puts("done");
	return 0;
}
