package scene

import "strings"

// IOWorker tells a thread by its name that the kernel made for a process which uses io_uring
// (io_uring/io-wq.c, sqpoll.c). It makes no system calls: what is read as its call is what its
// maker was in. While it sleeps it waits for work, and works for no request.
func IOWorker(comm string) bool {
	return strings.HasPrefix(comm, "iou-wrk-") || strings.HasPrefix(comm, "iou-sqp-")
}
