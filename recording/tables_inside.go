package recording

import (
	"fmt"
	"strings"
)

// The tables of what happens inside processes. Their stacks are in the table of
// stacks, by id (probe.Stacks hands the ids out); 0 is no stack.

// OnCPU counts the samples that found one thread on a CPU with one stack, in the
// second that begins at T.
type OnCPU struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`
	TID  int    `json:"tid,omitempty"` // 0: threads of the process taken together
	Comm string `json:"comm"`          // of the thread
	// Stack is what ran, user frames below the kernel's. 0: it could not be taken.
	Stack int     `json:"stack,omitempty"`
	N     uint64  `json:"n"`
	Hz    float64 `json:"hz"` // samples per second and CPU; 0 where Event is no clock
	// Event is what was counted between two samples, as perf names it ("cycles",
	// "page-faults"); "" is time. Weight is how much of it the samples stand for.
	Event  string  `json:"event,omitempty"`
	Weight float64 `json:"weight,omitempty"`
}

// Loop counts the samples of one process that were taken inside one short loop of its
// code, in the second that begins at T. Only of processes of which several threads ran;
// all that does not wait for another thread is one row without a function.
type Loop struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	// Kind is what the loop does, read from its machine code (one of the Loop…
	// constants).
	Kind     string `json:"kind,omitempty"`
	Function string `json:"function,omitempty"`
	Object   string `json:"object,omitempty"`  // the file that the code is in
	Address  uint64 `json:"address,omitempty"` // of its first instruction, as the object's linker has it
	Bytes    int    `json:"bytes,omitempty"`   // how long it is
	Code     string `json:"code,omitempty"`    // its instructions
	N        uint64 `json:"n"`                 // samples
	Threads  int    `json:"threads"`           // that were seen there in that second
}

// Kinds of Loop.
const (
	LoopWaits  = "waits"  // it reads memory, or tries an atomic exchange, and tests what it got: only a write by another thread ends it
	LoopPauses = "pauses" // it has the instruction for such loops (pause), and stores and calls nothing
	LoopTries  = "tries"  // it tests the outcome of an atomic operation and does more: it may wait, or count
	LoopWorks  = ""       // none of these, or no short loop
)

// Spins tells a loop that waits for another thread.
func (l Loop) Spins() bool { return l.Kind == LoopWaits || l.Kind == LoopPauses }

// ThreadStates is how often a thread of a watched process was found in one state and
// place within a second (coverage states). N of Looks looks at the process found it so;
// of several threads taken together (TID 0) up to Threads times as many.
type ThreadStates struct {
	T       Time   `json:"t"` // when the looks of the second began
	PID     int    `json:"pid"`
	TID     int    `json:"tid,omitempty"`    // 0: threads of the process taken together
	Parent  int    `json:"parent,omitempty"` // the process that forked it to run the same program; 0: not known to be one of such
	Threads int    `json:"threads"`
	Comm    string `json:"comm,omitempty"`
	State   string `json:"state"`            // R running or runnable, S, D, T as of Thread
	IO      bool   `json:"io,omitempty"`     // D: the kernel counts it as waiting for a device (task_struct.in_iowait)
	Call    string `json:"call,omitempty"`   // the system call that it sleeps in; "": in none
	FD      int    `json:"fd"`               // that call's descriptor, -1 if it has none
	Inode   uint64 `json:"inode,omitempty"`  // behind it: of a socket that of Socket.Inode
	Kind    string `json:"kind,omitempty"`   // what that is: socket, pipe, file; "" where it is something else, or was not looked at
	Remote  string `json:"remote,omitempty"` // address:port at the other end of a socket that the process connected
	Futex   uint64 `json:"futex,omitempty"`  // address waited on
	Lock    bool   `json:"lock,omitempty"`   // as Thread.Lock
	N       uint64 `json:"n"`
	Looks   uint64 `json:"looks"`
}

// What a descriptor is of (ThreadStates.Kind).
const (
	OfSocket = "socket"
	OfPipe   = "pipe"
	OfFile   = "file"
)

// OffCPU counts the times that one thread was off the CPU with one stack for one
// reason, by the second in which they ended. Only waits over a threshold count
// (coverage offcpu.waits says which).
type OffCPU struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`
	TID  int    `json:"tid,omitempty"` // 0: threads of the process taken together
	Comm string `json:"comm"`
	// Reason is what it waited for: one of the Wait… constants.
	Reason string  `json:"reason"`
	Stack  int     `json:"stack,omitempty"`
	N      uint64  `json:"n"`
	Sum    float64 `json:"sum"`              // s
	Max    float64 `json:"max"`              // s
	MaxAt  Time    `json:"max_at,omitempty"` // when the longest began
	// Futex is the address waited on; FD the descriptor of the call it sat in and
	// Call its name, where they are known.
	Futex uint64 `json:"futex,omitempty"`
	Call  string `json:"call,omitempty"`
	FD    *int   `json:"fd,omitempty"`
	// Who woke it most often; PID 0 with a Comm is an interrupt or idle CPU.
	WakerPID   int    `json:"waker_pid,omitempty"`
	WakerTID   int    `json:"waker_tid,omitempty"`
	WakerComm  string `json:"waker_comm,omitempty"`
	WakerStack int    `json:"waker_stack,omitempty"`
}

// Reasons of OffCPU.
const (
	WaitFutex    = "futex"     // a lock or a condition in user space
	WaitSocket   = "socket"    // a read, write, accept or connect on a socket
	WaitPoll     = "poll"      // epoll, poll, select: it waits for any of many
	WaitPipe     = "pipe"      // a pipe, eventfd or terminal
	WaitDisk     = "disk"      // uninterruptible, on a block device or filesystem
	WaitSleep    = "sleep"     // nanosleep, timers: it asked for it
	WaitRunQueue = "run-queue" // ready to run, and no CPU was given (preempted, woken)
	WaitKernel   = "kernel"    // a lock or memory inside the kernel
	WaitStopped  = "stopped"   // SIGSTOP or traced
	WaitChild    = "child"     // wait4 and kin
	WaitOther    = "other"
)

// LockWait counts the waits of one second on one lock of one process.
type LockWait struct {
	T       Time   `json:"t"`
	PID     int    `json:"pid"`
	Comm    string `json:"comm"`
	Address uint64 `json:"address"` // of the futex word
	// Kind is "mutex" where threads wait for another to let go, "condition" where
	// they wait to be told of something, "" unknown.
	Kind    string  `json:"kind,omitempty"`
	Waiters int     `json:"waiters"`         // threads that waited in that second
	N       uint64  `json:"n"`               // waits that ended in it
	Sum     float64 `json:"sum"`             // s, of those that ended, and of those that go on their part in this second
	Max     float64 `json:"max"`             // s, the longest so far
	Stack   int     `json:"stack,omitempty"` // of the waiter that waited longest
	// Owner is the thread that held it when it was looked at: by the lock's own
	// word (OwnerBy "word"), or the thread that woke the waiters ("waker"). Of a mutex
	// of Go it is the one that the goroutine ran on that let it go (OwnerUnlocks), and
	// Waiters are goroutines. Address 0: each waiter parks on a word of its own (Java).
	Owner      int    `json:"owner,omitempty"`
	OwnerBy    string `json:"owner_by,omitempty"`
	OwnerComm  string `json:"owner_comm,omitempty"`
	OwnerStack int    `json:"owner_stack,omitempty"` // what the owner did meanwhile
	// OwnerCall and OwnerFD are the system call that the owner sat in meanwhile.
	OwnerCall string `json:"owner_call,omitempty"`
	OwnerFD   *int   `json:"owner_fd,omitempty"`
}

// OwnerUnlocks is OwnerBy where a goroutine was seen to unlock a mutex.
const OwnerUnlocks = "unlock"

// UringPrefix begins the names of io_uring's operations in the table of calls. They
// are no system calls: they count where they complete, their time is from the
// submission to the completion, and those of one thread overlap.
const UringPrefix = "io_uring:"

// Call counts one system call of one thread on one descriptor, in the second
// that begins at T (by when the call returned). Where there were too many rows in a
// second, threads, descriptors and at last processes are taken together: no call is
// left out.
type Call struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`           // 0: processes taken together
	TID  int    `json:"tid,omitempty"` // 0: threads taken together
	Comm string `json:"comm"`
	Call string `json:"call"` // the name: read, futex, epoll_wait; of 32-bit calls with /32 after it; of io_uring its operations ("io_uring:recv")
	FD   int    `json:"fd"`   // -1: the call has none; -2: descriptors taken together
	N    uint64 `json:"n"`
	// Errors counts those that failed, by errno name.
	Errors map[string]uint64 `json:"errors,omitempty"`
	// Asked and Done are bytes, of calls that move some; nil elsewhere.
	Asked *uint64 `json:"asked_bytes,omitempty"`
	Done  *uint64 `json:"done_bytes,omitempty"`
	Sum   float64 `json:"sum"`              // s inside the call, waiting included
	Max   float64 `json:"max"`              // s
	MaxAt Time    `json:"max_at,omitempty"` // when the longest began
	// Hist[i] counts calls of at least CallBound(i) and less than CallBound(i+1), the
	// first also what is shorter; trailing zeros are left out.
	Hist []uint64 `json:"hist,omitempty"`
}

// CallBound is the lower bound of a bucket of Call.Hist, seconds: 1.024 µs, and
// twice that for each bucket more.
func CallBound(i int) float64 { return 1.024e-6 * float64(uint64(1)<<min(i, 40)) }

// FD is what a descriptor of a process was at T.
type FD struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`
	FD   int    `json:"fd"`
	Kind string `json:"kind"` // socket, file, pipe, epoll, eventfd, timerfd, signalfd, inotify, tty, device, other
	Name string `json:"name"` // as /proc/PID/fd has it
	// Of sockets.
	Inode  uint64 `json:"inode,omitempty"`
	Proto  string `json:"proto,omitempty"`
	State  string `json:"state,omitempty"`
	Local  string `json:"local,omitempty"`
	Remote string `json:"remote,omitempty"`
	// Bytes that waited to be read, and those not yet sent or read by the other end,
	// when it was looked at; nil where that is not known.
	RecvQ *int `json:"recv_q,omitempty"`
	SendQ *int `json:"send_q,omitempty"`
	// Peer is the process at the other end where that is on this host.
	PeerPID  int    `json:"peer_pid,omitempty"`
	PeerComm string `json:"peer_comm,omitempty"`
	// Carries is what goes over it, learnt from its first bytes on the user's word
	// (--peek): "RTMP publish live/cam1", "GET /x HTTP/1.1".
	Carries string `json:"carries,omitempty"`
}

// Text says what the descriptor is, for a person: "tcp 10.0.0.1:80 – 10.0.0.7:4312
// ESTABLISHED, to nginx[812]", "file /var/log/x", "epoll".
func (f FD) Text() string {
	var b strings.Builder
	switch {
	case f.Kind == "socket" && f.Proto == "":
		b.WriteString(f.Name)
	case f.Kind == "socket":
		b.WriteString(f.Proto)
		if f.Local+f.Remote == "" && (f.Proto == "tcp" || f.Proto == "udp") { // its addresses are not known
			b.WriteString(" " + f.Name)
		}
		if f.Local != "" {
			b.WriteString(" " + f.Local)
		}
		if f.Remote != "" {
			b.WriteString(" – " + f.Remote)
		}
		if f.State != "" && f.Proto != "unix" {
			b.WriteString(" " + f.State)
		}
	case f.Kind == "file", f.Kind == "tty", f.Kind == "device", f.Kind == "other":
		b.WriteString(strings.TrimSpace(f.Kind + " " + f.Name))
	case f.Kind == "pipe":
		b.WriteString(f.Name)
	default:
		b.WriteString(f.Kind)
	}
	if f.PeerPID != 0 {
		fmt.Fprintf(&b, ", to %s[%d]", f.PeerComm, f.PeerPID)
	}
	return b.String()
}

// Table names, in the order in which show prints them.
func (OnCPU) Table() string        { return "oncpu" }
func (Loop) Table() string         { return "loops" }
func (ThreadStates) Table() string { return "thread_states" }
func (OffCPU) Table() string       { return "offcpu" }
func (LockWait) Table() string     { return "lock_waits" }
func (Call) Table() string         { return "calls" }
func (FD) Table() string           { return "fds" }
