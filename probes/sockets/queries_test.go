package sockets

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"snag/probes/probe"
	"snag/probes/probe/probetest"
	"snag/recording"
)

// answerNames answers every query on c, after that time, with no address: to a
// resolver that is an answer too.
func answerNames(c net.PacketConn, after time.Duration) {
	buf := make([]byte, 1500)
	for {
		n, from, err := c.ReadFrom(buf)
		if err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(buf[:n]) != nil {
			continue
		}
		m.Response, m.RCode, m.Additionals = true, dnsmessage.RCodeNameError, nil
		if out, err := m.Pack(); err == nil {
			time.AfterFunc(after, func() { c.WriteTo(out, from) })
		}
	}
}

// lookUp has glibc look a name up in the bench's namespace with a resolv.conf of its
// own.
func (b *bench) lookUp(resolv string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "resolv.conf")
	if err := os.WriteFile(file, []byte(resolv), 0o644); err != nil {
		b.t.Fatal(err)
	}
	cmd := exec.Command("unshare", "-m", "sh", "-c", `mount --bind "$0" /etc/resolv.conf && exec getent ahosts nowhere.test.`, file)
	b.do(cmd.Start)
	_ = cmd.Wait() // 2: no such name
}

// Two servers, the first of which never answers: glibc waits for its timeout at the
// first and asks the second.
func TestQueriesThatANameServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var dead, alive net.PacketConn
	b.do(func() (err error) {
		if dead, err = net.ListenPacket("udp4", "127.0.0.2:53"); err != nil {
			return err
		}
		alive, err = net.ListenPacket("udp4", "127.0.0.3:53")
		return err
	})
	defer dead.Close()
	defer alive.Close()
	go answerNames(alive, 20*time.Millisecond)
	r := b.start()
	time.Sleep(200 * time.Millisecond)
	const lookups = 2
	for range lookups {
		b.lookUp("nameserver 127.0.0.2\nnameserver 127.0.0.3\noptions timeout:1\n")
	}
	time.Sleep(200 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.queries")
	sum := map[string]recording.Queries{}
	for _, q := range rec.Queries {
		if q.Netns != b.id {
			continue
		}
		if q.Comm != "getent" || q.PID == 0 {
			t.Errorf("whose queries are %+v", q)
		}
		s := sum[q.Remote]
		s.Asked += q.Asked
		s.Answered += q.Answered
		s.Sum += q.Sum
		s.GaveUp += q.GaveUp
		s.GaveUpSum += q.GaveUpSum
		s.GaveUpMin = max(s.GaveUpMin, q.GaveUpMin)
		sum[q.Remote] = s
	}
	t.Logf("%+v", sum)
	no, yes := sum["127.0.0.2:53"], sum["127.0.0.3:53"]
	if no.Asked != 2*lookups || no.Answered != 0 || no.GaveUp != lookups { // A and AAAA
		t.Errorf("of the dead server: %+v", no)
	}
	between(t, "what the resolver waited for it", no.GaveUpSum/lookups, 1, 1.5)
	if yes.Asked != 2*lookups || yes.Answered != 2*lookups || yes.GaveUp != 0 {
		t.Errorf("of the other: %+v", yes)
	}
	between(t, "what the other took to answer", yes.Sum/(2*lookups), 0.02, 0.4)
}

// An event loop asks for many names on one socket: how long it waits for which of them
// can't be told, and is not made up.
func TestQueriesOfAnEventLoop(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var dead net.PacketConn
	var c net.Conn
	b.do(func() (err error) {
		if dead, err = net.ListenPacket("udp4", "127.0.0.2:53"); err != nil {
			return err
		}
		c, err = net.Dial("udp4", "127.0.0.2:53")
		return err
	})
	defer dead.Close()
	defer c.Close()
	r := b.start()
	time.Sleep(200 * time.Millisecond)
	const asked = 12
	runtime.LockOSThread() // as an event loop's thread
	for range asked {
		if _, err := c.Write(make([]byte, 30)); err != nil {
			t.Error(err)
		}
		time.Sleep(150 * time.Millisecond)
	}
	runtime.UnlockOSThread()
	r.Stop()
	rec := b.needs(r, "sockets.queries")
	var sum recording.Queries
	for _, q := range rec.Queries {
		if q.Netns == b.id {
			sum.Asked += q.Asked
			sum.Answered += q.Answered
			sum.GaveUp += q.GaveUp
		}
	}
	if sum.Asked != asked || sum.Answered != 0 || sum.GaveUp != 0 {
		t.Errorf("%+v", sum)
	}
}

func TestQueryRow(t *testing.T) {
	v := kernelQueryValue{Asked: 4, Answered: 1, Sum: 2e6, Max: 2e6, GaveUp: 2, GaveSum: 10_010e6, GaveMin: 5_004e6, GaveMax: 5_006e6}
	copy(v.Comm[:], "gunicorn")
	got := queryRow(9, kernelQueryKey{Pid: 812, Flow: flow4([4]byte{10, 0, 0, 1}, 0, [4]byte{10, 0, 0, 53}, 53)}, v)
	want := recording.Queries{T: 9, Netns: 7, PID: 812, Comm: "gunicorn", Remote: "10.0.0.53:53", Asked: 4, Answered: 1, Sum: 0.002, Max: 0.002,
		GaveUp: 2, GaveUpSum: 10.01, GaveUpMin: 5.004, GaveUpMax: 5.006}
	if got != want {
		t.Errorf("got %+v", got)
	}
	for why, row := range map[string]recording.Queries{
		"":               {Remote: "10.0.0.53:53", Asked: 9, Answered: 9, Sum: 0.01},
		"did not answer": got,
		"took 400 ms":    {Remote: "10.0.0.53:53", Asked: 2, Answered: 2, Sum: 0.8, Max: 0.4},
	} {
		if said := slowNames(row); why == "" && said != "" || !strings.Contains(said, why) {
			t.Errorf("%+v: %q", row, said)
		}
	}
}

func TestResolvConf(t *testing.T) {
	for conf, want := range map[string]string{
		"": "timeout 5 attempts 2",
		"# written by dhclient\nsearch a.example\nnameserver 10.0.0.2\n nameserver 10.0.0.3 # second\n": "nameserver 10.0.0.2 10.0.0.3 timeout 5 attempts 2",
		"nameserver fe80::1%eth0\noptions timeout:2 attempts:1 rotate edns0\n":                          "nameserver fe80::1%eth0 timeout 2 attempts 1 rotate",
		"options timeout:1000 attempts:-3 timeout attempts:x\nnameserver\nnameserver no.address\n":      "timeout 30 attempts 2",
		"nameserver 1.1.1.1\nnameserver 2.2.2.2\nnameserver 3.3.3.3\nnameserver 4.4.4.4\n":              "nameserver 1.1.1.1 2.2.2.2 3.3.3.3 timeout 5 attempts 2",
	} {
		if got := parseResolver([]byte(conf)).String(); got != want {
			t.Errorf("%q: %q, want %q", conf, got, want)
		}
	}
}

func FuzzResolvConf(f *testing.F) {
	f.Add([]byte("nameserver 10.0.0.2\noptions timeout:1 rotate\n"))
	f.Add([]byte("options attempts:99999999999999999999"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		r := parseResolver(raw)
		if len(r.servers) > mostServers || r.timeout < 0 || r.timeout > timeoutMost || r.attempts < 0 || r.attempts > attemptsMost {
			t.Errorf("%+v", r)
		}
		// What is written down is read again as the same.
		var conf strings.Builder
		for _, s := range r.servers {
			conf.WriteString("nameserver " + s + "\n")
		}
		if again := parseResolver([]byte(conf.String())); !slices.Equal(again.servers, r.servers) {
			t.Errorf("servers %q, again %q", r.servers, again.servers)
		}
	})
}

// Processes that ended make room for those that come later; those that run do not.
func TestResolversOfThoseThatCameLater(t *testing.T) {
	sink := probetest.NewSink()
	r := &running{env: &probe.Env{Proc: "/proc", Sink: sink}, resolvers: map[int]bool{}}
	for i := range mostResolvers {
		r.resolvers[1<<22+1+i] = true // beyond the greatest number of a process
	}
	r.noteResolver(os.Getpid(), 0)
	if len(r.resolvers) != 1 || !r.resolvers[os.Getpid()] || len(sink.Recording().Facts) != 1 {
		t.Errorf("%d are counted, facts %v", len(r.resolvers), sink.Recording().Facts)
	}
}
