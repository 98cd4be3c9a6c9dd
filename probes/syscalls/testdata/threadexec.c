/* A thread that is not the first one calls execve(2): the process goes on under the
 * first one's number. Known numbers of calls before and after. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *self;

static void calls(int n)
{
	while (n-- > 0)
		syscall(SYS_getppid);
}

static void *thread(void *arg)
{
	(void)arg;
	calls(30);
	execl(self, self, "again", NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	char line[16];
	pthread_t t;

	self = argv[0];
	if (argc > 1) {
		calls(100);
		printf("done\n");
		fflush(stdout);
		while (fgets(line, sizeof(line), stdin))
			;
		return 0;
	}
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	calls(50);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	return 1;
}
