package recording

import "strings"

// Row is one line of a table. Every row type names its table; Tables lists them
// all. Counts in rows are for the second that begins at T, never running totals,
// so that a torn tail loses a second and no more. Running values (queues, sums
// inside tcp_info) say so.
type Row interface{ Table() string }

// Process is one process at T. Written when first seen, then every 5 s, every
// second while watched.
type Process struct {
	T       Time   `json:"t"`
	PID     int    `json:"pid"`
	PPID    int    `json:"ppid,omitempty"`
	Comm    string `json:"comm"`
	Exe     string `json:"exe,omitempty"`
	Cmdline string `json:"cmdline,omitempty"` // first 256 bytes, NULs as spaces; of the rest the words with "://", after "…"
	Start   Time   `json:"start,omitempty"`
	Netns   uint64 `json:"netns,omitempty"`
	Cgroup  string `json:"cgroup,omitempty"` // of the cpu controller (v1) or the unified hierarchy (v2)
	Unit    string `json:"unit,omitempty"`   // systemd unit, from the cgroup path
	UID     int    `json:"uid"`
	State   string `json:"state"` // R S D T t Z X I
	Threads int    `json:"threads"`
	// FDs is nil where the fd directory could not be read: not the same as 0.
	FDs     *int `json:"fds,omitempty"`
	FDLimit int  `json:"fd_limit,omitempty"` // RLIMIT_NOFILE soft; 0 unknown, -1 unlimited
	FDHard  int  `json:"fd_hard,omitempty"`
	// CPU is user + system time since the process began, seconds; ChildrenCPU that
	// of the children it has waited for, and theirs (a compiler's, of its make).
	CPU         float64 `json:"cpu_seconds"`
	ChildrenCPU float64 `json:"children_cpu_seconds,omitempty"`
	// Nice is -20 to 19; Policy is "idle", "batch", "fifo", "rr" or "deadline", "" the usual one
	// (sched(7)). Of the first thread; they count within its control group.
	Nice   int    `json:"nice,omitempty"`
	Policy string `json:"policy,omitempty"`
	// MajorFaults since the process began: page faults that waited for a disk.
	MajorFaults *uint64 `json:"major_faults,omitempty"`
	// The following are read of watched processes and of those that use much of
	// the machine; nil and "" elsewhere. Bytes.
	RSS          *uint64 `json:"rss_bytes,omitempty"`     // in memory
	Swap         *uint64 `json:"swap_bytes,omitempty"`    // in swap
	ReadBytes    *uint64 `json:"read_bytes,omitempty"`    // fetched from disks since it began (/proc/PID/io)
	WrittenBytes *uint64 `json:"written_bytes,omitempty"` // sent to disks, or made dirty in the page cache, from where the kernel sends them later
	// CancelledBytes of WrittenBytes never went to a disk: the file was truncated or deleted before.
	CancelledBytes *uint64 `json:"cancelled_bytes,omitempty"`
	CPUs           string  `json:"cpus,omitempty"` // that it may run on: "0-3,7"
	// Groups are the paths of the control groups of other hierarchies, where they
	// differ from Cgroup: by controller (memory, blkio), and "unified".
	Groups map[string]string `json:"cgroups,omitempty"`
	Self   bool              `json:"self,omitempty"` // snag itself: never a suspect but as observer
}

// GroupOf is the process' control group in that controller's hierarchy: "cpu",
// "memory", "blkio", "unified".
func (p Process) GroupOf(controller string) string {
	if path, ok := p.Groups[controller]; ok {
		return path
	}
	return p.Cgroup
}

// Exit is a process that ended at T, or several of one parent, name and outcome that
// ended within a second and share a row (PID 0; T is the first's).
type Exit struct {
	T      Time    `json:"t"`
	PID    int     `json:"pid,omitempty"`
	PPID   int     `json:"ppid"` // when it ended
	Comm   string  `json:"comm"`
	Netns  uint64  `json:"netns,omitempty"`
	Signal string  `json:"signal,omitempty"` // that ended it: SIGKILL; "": it ended itself, with Status
	Status int     `json:"status,omitempty"`
	Core   bool    `json:"core,omitempty"` // the kernel was to write its memory to a file
	Age    float64 `json:"age_seconds"`    // of several on average
	N      uint64  `json:"n"`
}

// Thread is one thread of a watched process at T.
type Thread struct {
	T       Time   `json:"t"`
	PID     int    `json:"pid"`
	TID     int    `json:"tid"`
	Comm    string `json:"comm"`
	State   string `json:"state"`
	Wchan   string `json:"wchan,omitempty"`   // kernel function it sleeps in
	Syscall string `json:"syscall,omitempty"` // name; "running" when on a CPU; "none" asleep outside of any call; "" not readable
	FD      int    `json:"fd"`                // that call's fd argument, -1 if it has none
	// Futex is the address that a wait in futex(2) is on, as /proc/PID/task/TID/syscall
	// gave it; 0 in every other call.
	Futex uint64 `json:"futex,omitempty"`
	// Lock reports that it waits for a mutex that another thread holds, and not to be
	// told of something (a condition, a note): FUTEX_WAIT for the value 2, as
	// glibc's, Go's and Rust's locks wait once taken, or FUTEX_LOCK_PI.
	Lock bool `json:"lock,omitempty"`
	// Owner is the thread that the lock's own word names as its holder (glibc's
	// pthread_mutex_t); 0 where it names none or could not be read.
	Owner int `json:"owner,omitempty"`
	// Running totals since the thread began (schedstat), seconds, and switches.
	OnCPU       float64 `json:"on_cpu_seconds"`
	RunDelay    float64 `json:"run_delay_seconds"`
	Voluntary   uint64  `json:"voluntary_switches"`
	Involuntary uint64  `json:"involuntary_switches"`
	// IODelay is how long it waited for disks since it began, seconds (delay
	// accounting); nil where the kernel does not account it: sysctl kernel.task_delayacct.
	IODelay *float64 `json:"io_delay_seconds,omitempty"`
}

// FDRef is a process' descriptor.
type FDRef struct {
	PID  int    `json:"pid"`
	Comm string `json:"comm,omitempty"`
	FD   int    `json:"fd"`
}

// Socket is one socket at T, as INET_DIAG gave it, or UNIX_DIAG. UNIX sockets are the
// listeners and the connections with them (docs/probes/sockets.md); what is bound to no
// address has its inode in place of one: "unix:#4711".
type Socket struct {
	T      Time    `json:"t"`
	Netns  uint64  `json:"netns"` // inode; always set
	Inode  uint64  `json:"inode,omitempty"`
	Cookie uint64  `json:"cookie,omitempty"` // unique while the kernel runs
	Proto  string  `json:"proto"`            // tcp udp unix
	State  string  `json:"state"`            // LISTEN ESTABLISHED … ; UDP: UNCONN or ESTABLISHED
	Local  string  `json:"local"`
	Remote string  `json:"remote,omitempty"`
	Owners []FDRef `json:"owners,omitempty"` // none: an orphan, or not readable (coverage sockets.owner)
	// RecvQ and SendQ are bytes; on a listener the connections waiting to be
	// accepted, and the most that may wait.
	RecvQ int `json:"recv_q"`
	SendQ int `json:"send_q"`
	// Memory from SK_MEMINFO (skmem of ss), bytes; Drops is a running count.
	RcvBuf int    `json:"rcvbuf,omitempty"`
	SndBuf int    `json:"sndbuf,omitempty"`
	Rmem   int    `json:"rmem,omitempty"`
	Drops  uint64 `json:"drops"`
	// Timer is "", on, keepalive, timewait, persist.
	Timer     string         `json:"timer,omitempty"`
	TimerNext float64        `json:"timer_seconds,omitempty"`
	Cong      string         `json:"cong,omitempty"`
	TCP       *TCPInfo       `json:"tcp,omitempty"`
	Options   *SocketOptions `json:"options,omitempty"` // read by pidfd_getfd; nil: not read
	// Wire reports that the row was made from captured packets: its queues and buffers
	// are not known (SendQ is what was on its way), nor is it this host's.
	Wire bool `json:"wire,omitempty"`
}

// TCPInfo is what of struct tcp_info (include/uapi/linux/tcp.h) the suspects
// use. Times in seconds, running totals since the connection began.
type TCPInfo struct {
	RTT           float64 `json:"rtt"`
	RTTVar        float64 `json:"rttvar"`
	MinRTT        float64 `json:"min_rtt"`
	RTO           float64 `json:"rto"`
	ATO           float64 `json:"ato"`
	SndMSS        int     `json:"snd_mss"`
	Cwnd          int     `json:"cwnd"`
	Ssthresh      int     `json:"ssthresh,omitempty"`
	Unacked       int     `json:"unacked"`
	Lost          int     `json:"lost"`
	Retrans       int     `json:"retrans"`
	TotalRetrans  int     `json:"total_retrans"`
	Backoff       int     `json:"backoff"`
	NotSent       int     `json:"notsent_bytes"`
	BytesSent     uint64  `json:"bytes_sent"`
	BytesAcked    uint64  `json:"bytes_acked"`
	BytesReceived uint64  `json:"bytes_received"`
	BytesRetrans  uint64  `json:"bytes_retrans"`
	SegsOut       uint64  `json:"segs_out"`
	SegsIn        uint64  `json:"segs_in"`
	DataSegsOut   uint64  `json:"data_segs_out"`
	DataSegsIn    uint64  `json:"data_segs_in"`
	DSACKDups     int     `json:"dsack_dups"`
	ReordSeen     int     `json:"reord_seen"`
	Busy          float64 `json:"busy"`
	RwndLimited   float64 `json:"rwnd_limited"`
	SndbufLimited float64 `json:"sndbuf_limited"`
	DeliveryRate  float64 `json:"delivery_rate"` // bytes/s
	PacingRate    float64 `json:"pacing_rate"`   // bytes/s
	LastSnd       float64 `json:"last_snd"`      // seconds before T
	LastRcv       float64 `json:"last_rcv"`
	LastAck       float64 `json:"last_ack"`
	SndWnd        int     `json:"snd_wnd"` // 0 also where the kernel is older than 5.4
	RcvSpace      int     `json:"rcv_space"`
	// RcvRTT is the receiver's own estimate of the round trip, s; RcvWnd the
	// window it offers, bytes (6.2 and later); RcvOOO the segments that came out
	// of order, a running count (5.4 and later): loss moves it as well.
	RcvRTT float64 `json:"rcv_rtt,omitempty"`
	RcvWnd int     `json:"rcv_wnd,omitempty"`
	RcvOOO int     `json:"rcv_ooopack,omitempty"`
	// Probes of a shut window or of a silent peer that were not answered.
	Probes int `json:"probes,omitempty"`
	// NoSACK: SACK was not agreed on (tcpi_options, TCPI_OPT_SACK; of a capture the SYNs),
	// so that the other end can't report what came twice: DSACKDups says nothing. Of a
	// capture DSACKDups has what its order and times show.
	NoSACK bool `json:"no_sack,omitempty"`
}

// SocketOptions are options read from the live socket.
type SocketOptions struct {
	NoDelay  *bool `json:"nodelay,omitempty"`
	Cork     *bool `json:"cork,omitempty"`
	QuickAck *bool `json:"quickack,omitempty"`
	RcvBuf   int   `json:"rcvbuf,omitempty"` // SO_RCVBUF, the kernel's doubled value
	SndBuf   int   `json:"sndbuf,omitempty"`
	NonBlock *bool `json:"nonblock,omitempty"`
}

// Drop counts skbs freed as drops in one second with one reason at one place.
type Drop struct {
	T      Time   `json:"t"`
	Reason string `json:"reason"` // the kernel's name without SKB_DROP_REASON_; "" where the kernel has none
	Place  string `json:"place"`  // kernel function that freed it
	Netns  uint64 `json:"netns,omitempty"`
	Proto  string `json:"proto,omitempty"` // tcp udp icmp …
	Src    string `json:"src,omitempty"`   // address:port, from the first packet of this kind
	Dst    string `json:"dst,omitempty"`
	Device string `json:"device,omitempty"`
	N      uint64 `json:"n"`
	// The victim socket, where the kernel gives rx_sk (6.11 and later) or the
	// packet still had its sender.
	Inode uint64 `json:"inode,omitempty"`
	PID   int    `json:"pid,omitempty"`
	Comm  string `json:"comm,omitempty"`
	Stack int    `json:"stack,omitempty"` // id in the stacks table, of the first packets
	// Sent: Inode is the socket that sent the packet (a drop on the way out),
	// not the one that it was for.
	Sent bool `json:"sent,omitempty"`
	// Benign: the kernel freed it as a drop, but nobody lost anything by it (what
	// lay in a closed socket's queue, a duplicate): see probes/drops/benign.go.
	Benign bool `json:"benign,omitempty"`
}

// Stack is a stack, innermost frame first: of the kernel (drops), or of a thread
// with the kernel's frames, if it was there, before the process' own.
type Stack struct {
	ID     int      `json:"id"`
	Frames []string `json:"frames"`
	// Objects are the files that the frames lie in, "" for the kernel's; nil where
	// all are the kernel's. A frame without a name is "OBJECT+0xOFFSET".
	Objects []string `json:"objects,omitempty"`
	// Kernel is how many of the first frames are the kernel's; -1: all.
	Kernel int `json:"kernel,omitempty"`
	// Cut is why the walk ended before the thread's first frame; "" it did not, or
	// nobody can tell.
	Cut string `json:"cut,omitempty"`
	// Guessed is the first frame that was found by what looks like a return address on
	// the stack (hand-written code without call frame information): it and those after
	// it may be wrong. 0: none was.
	Guessed int `json:"guessed,omitempty"`
}

// Connections counts the connections of one second between a local port and a
// peer address.
type Connections struct {
	T     Time   `json:"t"`
	Netns uint64 `json:"netns"`
	Role  string `json:"role"`  // accept: Local is the listener; connect: Remote is whom it called
	Local string `json:"local"` // accept: address:port; connect: address
	// Remote is the peer: its address (accept) or address:port (connect);
	// "others" once too many peers were seen in that second.
	Remote string `json:"remote"`
	PID    int    `json:"pid,omitempty"` // of the listener or the caller where known
	Comm   string `json:"comm,omitempty"`
	Opened uint64 `json:"opened"`
	Failed uint64 `json:"failed"` // SYN_SENT or SYN_RECV that ended in CLOSE
	Closed uint64 `json:"closed"`
	// Of the closed ones: lived under 1 s, sum of lifetimes (s), payload bytes.
	Short uint64 `json:"short"`
	// Unasked of these the server ended before the client had sent a byte.
	Unasked uint64 `json:"unasked,omitempty"`
	// ByPeer are those that the peer ended first, by a FIN: of a connection that is older than
	// the recording in the second of its FIN, of others in that of their end.
	ByPeer   uint64  `json:"ended_by_peer,omitempty"`
	Lifetime float64 `json:"lifetime_sum"`
	BytesIn  uint64  `json:"bytes_in"`
	BytesOut uint64  `json:"bytes_out"`
	// Of the opened ones (connect): time from SYN_SENT to ESTABLISHED, s.
	Handshake    float64 `json:"handshake_sum"`
	HandshakeMax float64 `json:"handshake_max"`
}

// Reset counts TCP resets of one second on one local port and peer.
type Reset struct {
	T      Time   `json:"t"`
	Dir    string `json:"dir"`              // received or sent
	Reason string `json:"reason,omitempty"` // sent: the kernel's sk_rst_reason, 6.10 and later
	Netns  uint64 `json:"netns"`
	Local  string `json:"local"` // address:port
	Remote string `json:"remote"`
	State  string `json:"state,omitempty"` // of the socket when it happened
	N      uint64 `json:"n"`
	PID    int    `json:"pid,omitempty"`
	Comm   string `json:"comm,omitempty"`
}

// Retransmit counts retransmitted segments of one flow in one second.
type Retransmit struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Local  string `json:"local"`
	Remote string `json:"remote"`
	State  string `json:"state,omitempty"`
	N      uint64 `json:"n"`
	Inode  uint64 `json:"inode,omitempty"`
	PID    int    `json:"pid,omitempty"`
	Comm   string `json:"comm,omitempty"`
}

// Hold counts the small writes of one socket that Nagle's algorithm held back
// until an ACK came, in one second (see nagle-delayed-ack in the catalogue).
type Hold struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Inode  uint64 `json:"inode,omitempty"`
	Cookie uint64 `json:"cookie,omitempty"`
	Local  string `json:"local"`
	Remote string `json:"remote"`
	PID    int    `json:"pid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	Writes uint64 `json:"writes"` // all writes of the socket in that second
	Held   uint64 `json:"held"`   // of them, held
	// Released holds were matched with the ACK that freed them.
	Released uint64  `json:"released"`
	HoldSum  float64 `json:"hold_sum"` // s
	HoldMax  float64 `json:"hold_max"` // s
	// Measured is for how much of the second it was counted, s, where that was done in
	// slices of the time (Coverage.Share); 0: for all of it.
	Measured float64 `json:"measured,omitempty"`
}

// Turns counts the request/response turns of one second on one local port and
// peer address. A turn begins when the first data after an answer is ready to be
// read (serve), or when the first data after an answer was sent (call), and ends
// when the last byte of the answer was sent (serve) or the first came (call). At a
// name server it begins when the query was queued to the socket.
type Turns struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns"`
	Role   string `json:"role"`  // serve: Local is the listener's; call: Remote is whom it asks
	Local  string `json:"local"` // serve: address:port, "unix:/path", "unix:@name"; call: address, "unix:"
	Remote string `json:"remote"`
	Proto  string `json:"proto,omitempty"` // "udp": queries to a name server, answers of SIP; "": what Local or Remote tells
	PID    int    `json:"pid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	N      uint64 `json:"n"` // turns that ended in that second
	// Sum and Max of their durations, s; Wait of the part until the process read
	// the first byte of the request (serve).
	Sum  float64 `json:"sum"`
	Max  float64 `json:"max"`
	Wait float64 `json:"wait_sum,omitempty"`
	// SlowPID is the process whose turn took longest, or takes, where it is another.
	SlowPID int `json:"slow_pid,omitempty"`
	// Open turns at the end of the second, and the age of the oldest, s.
	Open   uint64  `json:"open,omitempty"`
	Oldest float64 `json:"oldest,omitempty"`
	// Failed answers, by their first bytes, and what most of them were, as "HTTP 5xx" (serve).
	Failed   uint64 `json:"failed,omitempty"`
	FailedAs string `json:"failed_as,omitempty"`
	// Cut requests got no answer before their connection ended, and what ended most of them
	// (CutReset …): whom the caller missed (call), or who broke it himself (serve).
	Cut   uint64 `json:"cut,omitempty"`
	CutBy string `json:"cut_by,omitempty"`
	// Missed are the connections of HTTP/2 on which some requests of that second were not
	// seen: they are in none of the other numbers, so these are a lower bound.
	Missed uint64 `json:"missed,omitempty"`
	// Untimed are answers of which it is not known when they were asked for, as those that
	// SIP sends by UDP: they are in none of the other numbers but Failed.
	Untimed uint64 `json:"untimed,omitempty"`
	// Hist[i] counts turns of at least TurnBound(i) and less than TurnBound(i+1),
	// the first also what is shorter; trailing zeros are left out.
	Hist []uint64 `json:"hist,omitempty"`
	// Measured as in Hold. What lasts longer than a slice is open at its end, and then
	// no more told of.
	Measured float64 `json:"measured,omitempty"`
}

// What ends a connection on which a request is open (Turns.CutBy).
const (
	CutReset    = "a reset"
	CutTimedOut = "a timeout" // what was sent was never acknowledged
	CutHungUp   = "a FIN"
)

// TurnBound is the lower bound of a bucket of Turns.Hist, seconds: 16 µs, 24 µs,
// 32 µs, 48 µs …, two buckets to each power of two.
func TurnBound(i int) float64 {
	bound := 16e-6 * float64(uint64(1)<<min(i/2, 40))
	if i%2 == 1 {
		bound *= 1.5
	}
	return bound
}

// Ports counts the local ports in use towards one destination at T, TIME-WAIT
// included: what connect() has to choose from is net.ipv4.ip_local_port_range.
// Only destinations with many have rows (probes/sockets/ports.go).
type Ports struct {
	T        Time   `json:"t"`
	Netns    uint64 `json:"netns"`
	Local    string `json:"local"`  // address
	Remote   string `json:"remote"` // address:port
	InUse    int    `json:"in_use"`
	TimeWait int    `json:"time_wait"` // of them
	// Low and High are the least and the greatest of them.
	Low  int `json:"low"`
	High int `json:"high"`
}

// HalfOpen counts the connections to one local address and port that are half
// open at T (SYN_RECV: the peer's last ACK has not come). They have no rows in
// the table of sockets.
type HalfOpen struct {
	T     Time   `json:"t"`
	Netns uint64 `json:"netns"`
	Local string `json:"local"` // address:port
	N     int    `json:"n"`
	// Sources are the addresses they come from; no more than MostSources are told
	// apart.
	Sources int `json:"sources"`
	// Resent have had their SYN-ACK sent again: the peer is silent for a second or more.
	Resent int    `json:"resent"`
	Remote string `json:"remote,omitempty"` // address:port of one of them
}

// MostSources bounds HalfOpen.Sources.
const MostSources = 4096

// CallError counts the errors that calls of one process returned in one second.
type CallError struct {
	T      Time   `json:"t"`
	Netns  uint64 `json:"netns,omitempty"`
	PID    int    `json:"pid"`
	Comm   string `json:"comm"`
	Call   string `json:"call"`  // send recv accept connect open …; "socket" for an error the kernel put on the socket
	Errno  string `json:"errno"` // ECONNRESET EPIPE EMFILE …
	N      uint64 `json:"n"`
	Proto  string `json:"proto,omitempty"`
	Local  string `json:"local,omitempty"` // of the first of them
	Remote string `json:"remote,omitempty"`
	FD     *int   `json:"fd,omitempty"`
	// Of a call on a file: the file, as far as its name is known, and where its file system
	// is mounted; where there was no room, what was free of it a moment later.
	Path      string  `json:"path,omitempty"`
	Mount     string  `json:"mount,omitempty"`
	FreeBytes *uint64 `json:"free_bytes,omitempty"`
	FreeFiles *uint64 `json:"free_files,omitempty"`
}

// LogFile is a file that a process of interest has open to append to, at T: written
// when first seen, when it changed, and in the last look. Nothing of its content.
type LogFile struct {
	T     Time   `json:"t"`
	PID   int    `json:"pid"`
	Comm  string `json:"comm"`
	FD    int    `json:"fd"`
	Path  string `json:"path"`  // as the process opened it
	Inode uint64 `json:"inode"` // of the file that the descriptor is on
	Size  int64  `json:"size"`  // bytes
	MTime Time   `json:"mtime"` // of its last write, by the wall clock
	// Rotated reports that the path is another file by now, or none: the process
	// writes on to the old one.
	Rotated bool `json:"rotated,omitempty"`
}

// Library is a file that a process has mapped to execute: its program and its
// shared libraries. Read once, of processes that are watched or busy.
type Library struct {
	T    Time   `json:"t"`
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	Path string `json:"path"`
	// BuildID is the GNU build id, in hex; "" where the file has none or could not
	// be read. Size is in bytes; 0 unknown. Modified is the file's mtime.
	BuildID  string `json:"build_id,omitempty"`
	Size     int64  `json:"size,omitempty"`
	Modified Time   `json:"modified,omitempty"`
	Deleted  bool   `json:"deleted,omitempty"` // replaced since the process began
}

// ProfileRow counts the on-CPU samples of one kernel function in one second, or
// in the whole window where a tool gave only that.
type ProfileRow struct {
	T        Time   `json:"t"`
	Function string `json:"function"`         // the kernel function that ran
	Caller   string `json:"caller,omitempty"` // the nearest caller that names the path: a driver's xmit, a system call
	Comm     string `json:"comm,omitempty"`
	PID      int    `json:"pid,omitempty"`
	// Samples of it, of All that were taken on all CPUs, idle ones included, Hz a
	// second and CPU.
	Samples uint64  `json:"samples"`
	All     uint64  `json:"all"`
	Hz      float64 `json:"hz"`
}

// Cgroup is a control group with a CPU limit. Its counters are samples.
type Cgroup struct {
	T       Time    `json:"t"`
	Path    string  `json:"path"`
	Version int     `json:"version"` // 1 or 2
	Quota   float64 `json:"quota_seconds,omitempty"`
	Period  float64 `json:"period_seconds,omitempty"`
	Unit    string  `json:"unit,omitempty"`
}

// Fact is how the host is set: a sysctl, a limit, a version.
type Fact struct {
	T      Time   `json:"t"`
	Name   string `json:"name"`            // net.core.rmem_max, kernel.release
	Netns  uint64 `json:"netns,omitempty"` // for what is per namespace
	Value  string `json:"value"`
	Source string `json:"source"` // path or call it was read from
}

// Facts of what a live recording cost, CPU seconds: the process that made it, and its programs
// in the kernel.
const (
	FactProcessCPU  = "snag.cpu.process"
	FactProgramsCPU = "snag.cpu.programs"
)

// FactUnread is the name of facts that say, a sentence each, what of the files that
// a recording was made of is not in it (snag read).
const FactUnread = "snag.read.unread"

// FullPipe reports whether the thread sleeps in a write to a pipe, which it does only while
// the pipe is full (fs/pipe.c: pipe_write; anon_pipe_write since 6.16).
func (t Thread) FullPipe() bool {
	return (t.Syscall == "write" || t.Syscall == "writev") && strings.HasSuffix(t.Wchan, "pipe_write")
}

// Table names, in the order in which show prints them.
func (Process) Table() string     { return "processes" }
func (Exit) Table() string        { return "exits" }
func (Thread) Table() string      { return "threads" }
func (Socket) Table() string      { return "sockets" }
func (Drop) Table() string        { return "drops" }
func (Stack) Table() string       { return "stacks" }
func (Connections) Table() string { return "connections" }
func (Reset) Table() string       { return "resets" }
func (Retransmit) Table() string  { return "retransmits" }
func (Hold) Table() string        { return "holds" }
func (Turns) Table() string       { return "turns" }
func (Ports) Table() string       { return "ports" }
func (HalfOpen) Table() string    { return "half_open" }
func (CallError) Table() string   { return "errors" }
func (Library) Table() string     { return "libraries" }
func (ProfileRow) Table() string  { return "profile" }
func (LogFile) Table() string     { return "log_files" }
func (Qdisc) Table() string       { return "qdiscs" }
func (Link) Table() string        { return "links" }
func (NIC) Table() string         { return "nics" }
func (Queue) Table() string       { return "queues" }
func (IRQ) Table() string         { return "irqs" }
func (Netns) Table() string       { return "netns" }
func (Route) Table() string       { return "routes" }
func (Neighbour) Table() string   { return "neighbours" }
func (Rule) Table() string        { return "rules" }
func (Cgroup) Table() string      { return "cgroups" }
func (Fact) Table() string        { return "facts" }
func (Event) Table() string       { return "events" }
func (Coverage) Table() string    { return "coverage" }
