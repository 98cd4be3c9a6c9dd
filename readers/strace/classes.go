package strace

// class is what of a call matters here, as bits.
type class uint32

const (
	hasFD  class = 1 << iota // its first argument is a descriptor
	reads                    // its result is bytes that it read
	writes                   // its result is bytes that it wrote
	asks                     // its last argument is how many bytes were asked for
	opens                    // its result is a new descriptor
	closes
	names    // connect, bind: its second argument is an address
	pairs    // pipe, socketpair: it gives two descriptors
	forks    // its result is a new thread or process
	executes // another program from here on
	waits    // threads without work sit in it
	locking  // futex
	ends     // exit, exit_group
	polls    // it waits for any of several descriptors
	sleeps   // it waits for a time
	children // it waits for a child
	arms     // epoll_ctl
	limits   // prlimit64 and its kin
	listens
	shuts   // shutdown
	renames // prctl
)

var classOf = map[string]class{
	"read": hasFD | reads | asks, "pread64": hasFD | reads, "readv": hasFD | reads, "preadv": hasFD | reads, "preadv2": hasFD | reads,
	"recvfrom": hasFD | reads, "recv": hasFD | reads, "recvmsg": hasFD | reads, "recvmmsg": hasFD,
	"write": hasFD | writes | asks, "pwrite64": hasFD | writes, "writev": hasFD | writes, "pwritev": hasFD | writes, "pwritev2": hasFD | writes,
	"sendto": hasFD | writes, "send": hasFD | writes, "sendmsg": hasFD | writes, "sendmmsg": hasFD,
	"sendfile": hasFD | writes | asks, "sendfile64": hasFD | writes | asks, "splice": hasFD | reads, "tee": hasFD | reads, "vmsplice": hasFD | writes, "copy_file_range": hasFD | reads,
	"open": opens, "openat": opens, "openat2": opens, "creat": opens, "socket": opens,
	"accept": hasFD | opens | waits, "accept4": hasFD | opens | waits,
	"dup": hasFD | opens, "dup2": hasFD | opens, "dup3": hasFD | opens, "fcntl": hasFD | opens, "fcntl64": hasFD | opens,
	"epoll_create": opens, "epoll_create1": opens, "eventfd": opens, "eventfd2": opens, "timerfd_create": opens,
	"signalfd": opens, "signalfd4": opens, "inotify_init": opens, "inotify_init1": opens, "memfd_create": opens, "pidfd_open": opens, "userfaultfd": opens,
	"pipe": pairs, "pipe2": pairs, "socketpair": pairs,
	"close": hasFD | closes, "connect": hasFD | names, "bind": hasFD | names, "listen": hasFD | listens, "shutdown": hasFD | shuts,
	"setsockopt": hasFD, "getsockopt": hasFD, "getsockname": hasFD, "getpeername": hasFD, "ioctl": hasFD,
	"epoll_ctl": hasFD | arms, "epoll_wait": hasFD | waits | polls, "epoll_pwait": hasFD | waits | polls, "epoll_pwait2": hasFD | waits | polls,
	"poll": waits | polls, "ppoll": waits | polls, "select": waits | polls, "pselect6": waits | polls, "_newselect": waits | polls,
	"nanosleep": waits | sleeps, "clock_nanosleep": waits | sleeps, "pause": waits, "rt_sigtimedwait": waits, "rt_sigsuspend": waits,
	"wait4": waits | children, "waitid": waits | children, "waitpid": waits | children, "io_getevents": waits, "io_pgetevents": waits, "io_uring_enter": hasFD | waits, "restart_syscall": waits,
	"lseek": hasFD, "_llseek": hasFD, "fstat": hasFD, "fstat64": hasFD, "fstatfs": hasFD, "fsync": hasFD, "fdatasync": hasFD, "sync_file_range": hasFD,
	"ftruncate": hasFD, "ftruncate64": hasFD, "fallocate": hasFD, "fchmod": hasFD, "fchown": hasFD, "flock": hasFD, "fadvise64": hasFD, "readahead": hasFD,
	"getdents": hasFD, "getdents64": hasFD, "fchdir": hasFD, "timerfd_settime": hasFD, "timerfd_gettime": hasFD, "syncfs": hasFD,
	"clone": forks, "clone3": forks, "fork": forks, "vfork": forks,
	"prctl": renames, "prlimit64": limits, "getrlimit": limits, "setrlimit": limits,
	"execve": executes, "execveat": executes, "futex": locking, "exit": ends, "exit_group": ends,
}

// callNames gives each call's name a small number.
type callNames struct {
	ids   map[string]uint16
	names []string
	class []class
	cache [256]uint16 // by a hash of the name; 0: none, as id 0 is nobody's
}

func newCallNames() *callNames {
	return &callNames{ids: map[string]uint16{}, names: []string{""}, class: []class{0}}
}

// mostNames bounds the names: a kernel has some 470 calls; what a damaged file
// adds is counted together.
const mostNames = 4096

const otherCalls = "other"

func (c *callNames) id(name []byte) uint16 {
	n := len(name)
	slot := (int(name[0])*7 + int(name[n-1])*31 + int(name[n/2])*3 + n) & 255
	if id := c.cache[slot]; c.names[id] == string(name) {
		return id
	}
	id, ok := c.ids[string(name)]
	if !ok {
		s := string(name)
		if len(c.names) >= mostNames {
			s = otherCalls
			if id, ok = c.ids[s]; ok {
				return id
			}
		}
		id = uint16(len(c.names))
		c.ids[s] = id
		c.names = append(c.names, s)
		c.class = append(c.class, classOf[s])
	}
	c.cache[slot] = id
	return id
}
