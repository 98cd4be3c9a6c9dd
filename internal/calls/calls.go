// Package calls knows what system calls do, by their names: which work on a descriptor,
// move bytes, open or close, and in which threads wait. Live probes and readers of traces
// share it.
package calls

// Kind is what of a call matters, as bits.
type Kind uint32

// Bits of Kind.
const (
	OnFD   Kind = 1 << iota // its first argument is a descriptor
	Reads                   // its result is bytes that it read
	Writes                  // its result is bytes that it wrote
	Asks                    // its last argument is how many bytes were asked for
	Opens                   // its result is a new descriptor
	Closes
	Names    // connect, bind: its second argument is an address
	Pairs    // pipe, socketpair: it gives two descriptors
	Forks    // its result is a new thread or process
	Executes // another program from here on
	Idles    // threads that have nothing to do sit in it
	Locks    // futex
	Ends     // exit, exit_group
	Polls    // it waits for any of several descriptors
	Sleeps   // it waits for a time
	Children // it waits for a child
	Accepts
	Arms   // epoll_ctl
	Limits // prlimit64 and its kin
	Listens
	Shuts   // shutdown
	Renames // prctl
)

// Of is the kind of a call; 0 for one of which nothing matters.
func Of(name string) Kind { return kinds[name] }

var kinds = map[string]Kind{
	"read": OnFD | Reads | Asks, "pread64": OnFD | Reads, "readv": OnFD | Reads, "preadv": OnFD | Reads, "preadv2": OnFD | Reads,
	"recvfrom": OnFD | Reads, "recv": OnFD | Reads, "recvmsg": OnFD | Reads, "recvmmsg": OnFD,
	"write": OnFD | Writes | Asks, "pwrite64": OnFD | Writes, "writev": OnFD | Writes, "pwritev": OnFD | Writes, "pwritev2": OnFD | Writes,
	"sendto": OnFD | Writes, "send": OnFD | Writes, "sendmsg": OnFD | Writes, "sendmmsg": OnFD,
	"sendfile": OnFD | Writes | Asks, "sendfile64": OnFD | Writes | Asks, "splice": OnFD | Reads, "tee": OnFD | Reads, "vmsplice": OnFD | Writes, "copy_file_range": OnFD | Reads,
	"open": Opens, "openat": Opens, "openat2": Opens, "creat": Opens, "socket": Opens,
	"accept": OnFD | Opens | Idles | Accepts, "accept4": OnFD | Opens | Idles | Accepts,
	"dup": OnFD | Opens, "dup2": OnFD | Opens, "dup3": OnFD | Opens, "fcntl": OnFD | Opens, "fcntl64": OnFD | Opens,
	"epoll_create": Opens, "epoll_create1": Opens, "eventfd": Opens, "eventfd2": Opens, "timerfd_create": Opens,
	"signalfd": Opens, "signalfd4": Opens, "inotify_init": Opens, "inotify_init1": Opens, "memfd_create": Opens, "pidfd_open": Opens, "userfaultfd": Opens,
	"pipe": Pairs, "pipe2": Pairs, "socketpair": Pairs,
	"close": OnFD | Closes, "connect": OnFD | Names, "bind": OnFD | Names, "listen": OnFD | Listens, "shutdown": OnFD | Shuts,
	"setsockopt": OnFD, "getsockopt": OnFD, "getsockname": OnFD, "getpeername": OnFD, "ioctl": OnFD,
	"epoll_ctl": OnFD | Arms, "epoll_wait": OnFD | Idles | Polls, "epoll_pwait": OnFD | Idles | Polls, "epoll_pwait2": OnFD | Idles | Polls,
	"poll": Idles | Polls, "ppoll": Idles | Polls, "select": Idles | Polls, "pselect6": Idles | Polls, "_newselect": Idles | Polls,
	"nanosleep": Idles | Sleeps, "clock_nanosleep": Idles | Sleeps, "pause": Idles, "rt_sigtimedwait": Idles, "rt_sigsuspend": Idles,
	"wait4": Idles | Children, "waitid": Idles | Children, "waitpid": Idles | Children, "io_getevents": Idles, "io_pgetevents": Idles, "io_uring_enter": OnFD | Idles, "restart_syscall": Idles,
	"io_uring_setup": Idles, // its poller's threads never leave it

	"lseek": OnFD, "_llseek": OnFD, "fstat": OnFD, "fstat64": OnFD, "fstatfs": OnFD, "fsync": OnFD, "fdatasync": OnFD, "sync_file_range": OnFD,
	"ftruncate": OnFD, "ftruncate64": OnFD, "fallocate": OnFD, "fchmod": OnFD, "fchown": OnFD, "flock": OnFD, "fadvise64": OnFD, "readahead": OnFD,
	"getdents": OnFD, "getdents64": OnFD, "fchdir": OnFD, "timerfd_settime": OnFD, "timerfd_gettime": OnFD, "syncfs": OnFD,
	"clone": Forks, "clone3": Forks, "fork": Forks, "vfork": Forks,
	"prctl": Renames, "prlimit64": Limits, "getrlimit": Limits, "setrlimit": Limits,
	"execve": Executes, "execveat": Executes, "futex": Locks, "exit": Ends, "exit_group": Ends,
}
