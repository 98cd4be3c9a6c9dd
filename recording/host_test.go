package recording

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// start is the first instant of every written host: a whole millisecond.
const start = Time(1_790_000_000_123_000_000)

func manifest() Manifest {
	return Manifest{
		Snag: "0.1.0", Host: "web1", Kernel: "6.1.0-18-amd64", Arch: "amd64", CPUs: 4, PageSize: 4096,
		Anchor: Anchor{Wall: int64(start), Monotonic: 5e12, Boottime: 5e12}, Start: start,
		Target: Target{Port: 1935}, Symptoms: []string{"players freeze"}, SelfPID: 77, Netns: 4026531840,
	}
}

// oneOfEach gives a row for every table at t.
func oneOfEach(t Time, i int) []Row {
	fds, yes, hits, way := 17+i, true, uint64(40+i), 0.015625
	return []Row{
		Process{T: t, PID: 812, Comm: "nginx", Cmdline: "nginx: worker <process> & \"é\"", State: "S", FDs: &fds, CPU: 1.25 + float64(i)/64},
		Thread{T: t, PID: 812, TID: 813, Comm: "nginx", State: "S", Wchan: "ep_poll", Syscall: "epoll_wait", FD: 8, OnCPU: 0.125 * float64(i)},
		Socket{T: t, Netns: 4026531840, Inode: 40112, Cookie: 1 << 63, Proto: "tcp", State: "ESTABLISHED", Local: "127.0.0.1:1935", Remote: "127.0.0.1:40112",
			Owners: []FDRef{{PID: 812, Comm: "nginx", FD: 9}}, RecvQ: i, TCP: &TCPInfo{RTT: 0.000123, Cwnd: 10 + i}, Options: &SocketOptions{NoDelay: &yes}},
		Drop{T: t, Reason: "SOCKET_RCVBUFF", Place: "udp_queue_rcv_one_skb", Proto: "udp", N: uint64(i + 1), Stack: 1},
		Stack{ID: i + 1, Frames: []string{"kfree_skb_reason", "udp_queue_rcv_one_skb"}},
		Connections{T: t, Netns: 4026531840, Role: "accept", Local: "0.0.0.0:1935", Remote: "10.0.0.7", Opened: uint64(i)},
		Reset{T: t, Dir: "received", Netns: 4026531840, Local: "10.0.0.1:1935", Remote: "10.0.0.7:5000", N: 1},
		Retransmit{T: t, Netns: 4026531840, Local: "10.0.0.1:1935", Remote: "10.0.0.7:5000", N: 3},
		Hold{T: t, Netns: 4026531840, Local: "10.0.0.1:1935", Remote: "10.0.0.7:5000", Writes: 10, Held: 5, HoldSum: 0.2, HoldMax: 0.04},
		Turns{T: t, Netns: 4026531840, Role: "serve", Local: "10.0.0.1:80", Remote: "10.0.0.7", PID: 812, Comm: "nginx", N: 2, Sum: 0.1, Max: 0.06, Hist: []uint64{0, 2}},
		Flow{T: t, End: t + 5e9, Netns: 1, Proto: "tcp", Client: "10.0.0.7:40112", Server: "10.0.0.1:80", Known: true, Closed: "client fin", Up: FlowWay{Packets: 5, Bytes: 120, Size: 1448}, Down: FlowWay{Packets: 9, Resent: 1}},
		SIPCall{T: t, End: t + 9e9, Netns: 1, ID: "a84b4c76e66710", Caller: "10.0.0.7:5060", Callee: "10.0.0.1:5060", INVITEs: 1, Code: 200, Bye: t + 8e9, ByeFrom: "10.0.0.7:5060", Media: []string{"10.0.0.7:4000"}, AfterBye: 40},
		Segment{T: t, Netns: 1, Client: "10.0.0.7:40112", Server: "10.0.0.1:80", Up: true, Flags: "P.", Seq: 1, Len: 17, Ack: 1, Window: 64256, Again: true, Wait: true},
		Handshakes{T: t, Netns: 1, Server: "10.0.0.1:80", SYNs: 9, Opened: 7, Late: 2, LateMax: 1.04, Resent: 2},
		Ports{T: t, Netns: 4026531840, Local: "10.0.0.1", Remote: "10.0.0.9:3306", InUse: 28000 + i, TimeWait: 27000, Low: 32768, High: 60999},
		HalfOpen{T: t, Netns: 4026531840, Local: "10.0.0.1:80", N: 256, Sources: 250 + i, Resent: 200, Remote: "192.0.2.7:1024"},
		CallError{T: t, PID: 812, Comm: "nginx", Call: "accept", Errno: "EMFILE", N: 3},
		Queries{T: t, Netns: 4026531840, PID: 812, Comm: "nginx", Remote: "10.0.0.53:53", Asked: 2, Answered: 1, Sum: 0.002, Max: 0.002, GaveUp: 1, GaveUpSum: 5.004, GaveUpMin: 5.004, GaveUpMax: 5.004,
			Failed: 1, FailedAs: "DNS SERVFAIL", Unknown: 1, Open: 1, Oldest: 0.4},
		Library{T: t, PID: 812, Comm: "nginx", Path: "/usr/lib/libz.so.1", BuildID: "da39a3ee", Size: 121280, Modified: start},
		ProfileRow{T: t, Function: "debug_dma_map_page", Caller: "ixgbe_xmit_frame", Samples: uint64(i), All: 200, Hz: 99},
		LogFile{T: t, PID: 812, Comm: "nginx", FD: 5, Path: "/var/log/nginx/access.log", Inode: 4711, Size: int64(100 * i), MTime: t},
		OnCPU{T: t, PID: 812, TID: 813, Comm: "nginx", Stack: 1, N: 3, Hz: 99},
		Loop{T: t, PID: 812, Comm: "nginx", Kind: LoopPauses, Function: "ngx_spinlock", Object: "/usr/sbin/nginx", Address: 0x3f010, Bytes: 9, Code: "pause; cmp dword ptr [rdi], 0x0; jg; jmp", N: 3, Threads: 2},
		Exit{T: t, PID: 813 + i, PPID: 812, Comm: "nginx", Netns: 4026531840, Signal: "SIGSEGV", Core: true, Age: 1.5, N: 1},
		ThreadStates{T: t, PID: 812, TID: 813, Threads: 1, Comm: "nginx", State: "S", Call: "futex", FD: -1, Futex: 0x7f0012345678, Lock: true, N: 19, Looks: 21},
		OffCPU{T: t, PID: 812, TID: 813, Comm: "nginx", Reason: WaitFutex, Stack: 1, N: 2, Sum: 0.25, Max: 0.125, MaxAt: t, Futex: 0x7f0012345678, WakerPID: 812, WakerTID: 814, WakerComm: "nginx"},
		LockWait{T: t, PID: 812, Comm: "nginx", Address: 0x7f0012345678, Kind: "mutex", Waiters: 23, N: 40, Sum: 3.5, Max: 0.5, Owner: 814, OwnerBy: "word", OwnerCall: "read", OwnerFD: &fds},
		Call{T: t, PID: 812, TID: 813, Comm: "nginx", Call: "read", FD: 9, N: 100, Errors: map[string]uint64{"EAGAIN": 3}, Asked: &hits, Done: &hits, Sum: 0.5, Max: 0.25, MaxAt: t, Hist: []uint64{90, 0, 10}},
		FD{T: t, PID: 812, FD: 9, Kind: "socket", Name: "socket:[40112]", Inode: 40112, Proto: "tcp", State: "ESTABLISHED", Local: "127.0.0.1:1935", Remote: "127.0.0.1:40112"},
		Qdisc{T: t, Netns: 4026531840, Device: "eth0", Kind: "tbf", Handle: "8001:", Parent: "root", Options: map[string]string{"rate": "125000"}},
		Link{T: t, Netns: 4026531840, Index: 2, Name: "eth0", MTU: 1500, Up: true, Carrier: &yes},
		NIC{T: t, Netns: 4026531840, Device: "eth0", Driver: "ixgbe", Bus: "0000:03:00.0", Rings: &Rings{Rx: &fds}, Features: map[string]bool{"rx-gro": true}},
		Queue{T: t, Netns: 4026531840, Device: "eth0", Dir: "rx", Index: i, Flows: &fds},
		IRQ{T: t, Netns: 4026531840, Device: "eth0", Number: 38 + i, Name: "eth0-TxRx-0", Allowed: "0-3", Effective: "1"},
		Netns{T: t, ID: 4026531840, Own: true, Addrs: []string{"10.0.0.1/24"}},
		Route{T: t, Netns: 4026531840, Dst: "0.0.0.0/0", Via: "10.0.0.254", Device: "eth0", In: 254},
		Neighbour{T: t, Netns: 4026531840, Addr: "10.0.0.254", Device: "eth0", State: "FAILED", Probes: 3},
		Rule{T: t, Netns: 4026531840, Family: "inet", Of: "filter", Chain: "input", Hook: "input", Handle: 4, Verdict: "drop", Packets: &hits},
		Stream{T: t, Name: "live/cam1", URL: "rtmp://127.0.0.1/live/cam1", Protocol: "rtmp", Side: StreamSidePlayer, Video: "h264", Width: 1280, FPS: 30, First: t},
		StreamFile{T: t, Name: "live/x.m3u8", Path: "/tmp/hls/x.m3u8", Size: 210, MTime: t, PID: 40, Comm: "ffmpeg", By: "its command line", Segment: "x7.ts", SegmentSize: int64(i), SegmentMTime: t},
		StreamHop{T: t, Name: "live/cam1", From: "ingest", To: "edge", Matched: 30, Missing: i, Delay: 0.125, Rebased: -1.5},
		Request{T: t, Client: "10.0.0.1:33000", Server: "10.0.1.1:80", Name: "GET /x", N: 1, Parts: 1, Wait: 4.03125, AtServer: 4, Network: 0.03125, Out: &way, Back: &way, Bound: 0.0078125, BytesOut: 80, BytesIn: int64(i), LostBack: 1},
		RequestSecond{T: t, Server: "10.0.1.1:80", N: 12, Sum: 0.5, Max: 0.25, ServerSum: 0.25, ServerMax: 0.125, Network: 0.25, Hist: []uint64{0, uint64(i)}, ServerHist: []uint64{1}, NetworkHist: []uint64{2}},
		Load{T: t, End: t + 9e9, Target: "http://10.0.0.1:80/", Proto: "tcp", Netns: 4026531840, Remote: "10.0.0.1:80", Local: "10.0.0.7", LocalPorts: []uint64{40112}, Connections: 10, Rate: 50,
			Asked: 450, Sent: 449, Answered: 440, Behind: 1, Lost: map[string]uint64{"no answer in time": uint64(i)}, SinceDue: &Quantiles{Mean: 0.0625, P99: 0.125}, Parts: &LoadParts{N: 440, Waiting: 0.0078125, Answer: 0.0546875}, Open: 2.5, CPU: 0.25},
		LoadSecond{T: t, Target: "http://10.0.0.1:80/", Asked: 50, Sent: 50, Answered: uint64(i), Answer: 2.5, Max: 0.125, Open: 2.5, DueHist: []uint64{0, 50}, SentHist: []uint64{50}},
		Experiment{T: t, End: t + 5e8, Target: "http://10.0.0.1:80/", Proto: "tcp", Netns: 4026531840, Remote: "10.0.0.1:80", Experiment: "connect", What: "connect to each address",
			Number: new(0.001), Unit: "s", Of: "half of the connects", Shows: "20 of 20", Suspects: []ExperimentSuspect{{Suspect: "listen-queue", About: "full", State: StruckOff, Why: "0 of 20", Cause: "listen-overflow", Clears: []string{"listen-overflow"}, Next: "sudo snag find"}}},
		Cgroup{T: t, Path: "/system.slice/nginx.service", Version: 2, Quota: 0.02, Period: 0.1},
		Fact{T: t, Name: "net.core.rmem_max", Value: "212992", Source: "/proc/sys/net/core/rmem_max"},
		Event{T: t, End: t.Add(time.Millisecond), Kind: EventSignal, Subject: Subject{Kind: KindProcess, PID: 812}, Attrs: map[string]string{"signal": "SIGPIPE"}},
		Coverage{Probe: "drops", State: CoverageOK, Since: start, Lost: uint64(i)},
	}
}

// written makes a folder with n seconds of a small host and closes the recording.
func written(t testing.TB, n int, o Options) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "rec")
	w, err := Create(dir, manifest(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		at := start.Add(time.Duration(i) * time.Second)
		for _, row := range oneOfEach(at, i) {
			w.Append(row)
		}
		for c := range 3 {
			w.Sample(at.Add(time.Duration(c)*time.Millisecond), "node_softnet_processed_total", Labels{"cpu": fmt.Sprint(c)}, float64(1000*i+c))
		}
		w.Sample(at, "node_load1", nil, 0.1*float64(i))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func mustOpen(t testing.TB, path string) *Recording {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantDamage(t *testing.T, r *Recording, want ...string) {
	t.Helper()
	if !slices.Equal(r.Damage, want) {
		t.Errorf("damage is %q, want %q", r.Damage, want)
	}
}

// busyHost writes the sockets and samples of a host for n seconds: what a find
// of 30 s sees. Values move as counters do.
func busyHost(w Sink, seconds, sockets, series int) {
	rng := rand.New(rand.NewSource(1))
	counters := make([]float64, series)
	labels := make([]Labels, series)
	for i := range labels {
		labels[i] = Labels{"device": fmt.Sprintf("eth%d", i%16), "netns": fmt.Sprint(4026531840 + i/16)}
	}
	bytes := make([]uint64, sockets)
	for s := range seconds {
		at := start.Add(time.Duration(s)*time.Second + time.Duration(rng.Intn(3_000_000)))
		for i := range counters {
			if i%4 == 0 { // most counters of a host stand still
				counters[i] += float64(rng.Intn(5000))
			}
			w.Sample(at, fmt.Sprintf("node_netstat_Field%d", i/16), labels[i], counters[i])
		}
		for i := range sockets {
			bytes[i] += uint64(rng.Intn(200_000))
			w.Append(Socket{T: at, Netns: 4026531840, Inode: uint64(400_000 + i), Cookie: uint64(90_000 + i), Proto: "tcp", State: "ESTABLISHED",
				Local: "10.0.0.1:1935", Remote: fmt.Sprintf("10.0.%d.%d:%d", i/250, i%250, 32768+i*7),
				Owners: []FDRef{{PID: 812, Comm: "nginx", FD: 10 + i}}, RcvBuf: 131072, SndBuf: 87040, Rmem: rng.Intn(4000), Cong: "cubic",
				TCP: &TCPInfo{RTT: float64(rng.Intn(40_000)) / 1e6, RTTVar: float64(rng.Intn(9000)) / 1e6, MinRTT: 0.000031, RTO: 0.204, ATO: 0.04, SndMSS: 1448,
					Cwnd: 10, Unacked: rng.Intn(10), BytesSent: bytes[i], BytesAcked: bytes[i] - 100*uint64(rng.Intn(2)), SegsOut: bytes[i] / 1448, SegsIn: bytes[i] / 2900,
					DataSegsOut: bytes[i] / 1448, Busy: float64(s) / 10, DeliveryRate: float64(rng.Intn(10_000_000)), PacingRate: float64(rng.Intn(20_000_000)), LastSnd: 0.004, LastRcv: 1.2, LastAck: 0.008, SndWnd: 65536, RcvSpace: 14600}})
		}
	}
}

func size(t testing.TB, dir string) (total int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		st, err := e.Info()
		if err == nil {
			total += st.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return total
}
