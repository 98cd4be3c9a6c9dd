package suspects

import (
	"fmt"

	"snag/recording"
)

// consumerCalls keep one reader from holding the others; in is where in the program.
func consumerCalls(relay recording.Subject, in string) []Call {
	who := whoseCall(relay)
	return []Call{
		{who, "fcntl(fd, F_SETFL, O_NONBLOCK) on consumers, and a bounded queue for each (drop from its oldest key frame on when it is full)", "in " + in + " a write to one consumer waits, and nothing else is done meanwhile"},
		{who, "setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000)", "a consumer that takes nothing for 5 s is closed"},
	}
}

// spinCalls let a waiting thread sleep.
func spinCalls(sub recording.Subject, threads int) []Call {
	return []Call{{whoseCall(sub), fmt.Sprintf("pthread_mutex_t of type PTHREAD_MUTEX_ADAPTIVE_NP, or a futex wait after some hundred turns, in place of the loop; no more than %d threads at it", threads),
		"threads that spin take the CPU from the one that holds the lock"}}
}
