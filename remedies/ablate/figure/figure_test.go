package figure

import (
	"context"
	"errors"
	"math"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"snag/internal/netns/netnstest"
	"snag/remedies/ablate"
)

func TestMain(m *testing.M) { netnstest.Main(m) }

const wrkSays = `Running 2s test @ http://127.0.0.1:8080/
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.24ms    2.31ms  41.02ms   96.11%
    Req/Sec     6.12k   812.33     7.90k    70.00%
  Latency Distribution
     50%  812.00us
     75%    1.10ms
     90%    1.98ms
     99%   12.40ms
  24380 requests in 2.00s, 3.02MB read
Requests/sec:  12180.55
Transfer/sec:      1.51MB
`

const iperfSays = `[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec   12             sender
[  5]   0.00-10.04  sec  1.09 GBytes   935 Mbits/sec                  receiver
[  7]   0.00-10.04  sec  1.01 GBytes   865 Mbits/sec                  receiver
[SUM]   0.00-10.04  sec  2.10 GBytes  1.80 Gbits/sec                  receiver
`

const iperfUDP = `[  5]   0.00-10.00  sec  1.25 MBytes  1.05 Mbits/sec  0.000 ms  0/906 (0%)  sender
[  5]   0.00-10.00  sec  1.19 MBytes  1.00 Mbits/sec  0.013 ms  45/906 (4.97%)  receiver
`

const abSays = `Requests per second:    4512.11 [#/sec] (mean)
  50%      2
  99%     17
`

func TestFiguresOfWellKnownPrograms(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		want float64
	}{
		"wrk":                         {wrkSays, 12180.55},
		"wrk:latency":                 {wrkSays, 0.00124},
		"wrk:50%":                     {wrkSays, 0.000812},
		"wrk:99%":                     {wrkSays, 0.0124},
		"iperf3":                      {iperfSays, 1.8e9},
		"iperf3:lost":                 {iperfUDP, 4.97},
		"ab":                          {abSays, 4512.11},
		"ab:99%":                      {abSays, 17},
		`lower:took ([0-9.e+-]+) ms$`: {"took 3 ms\ntook 1.5e2 ms\nbye\n", 150},
	} {
		f, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.number([]byte(c.says))
		if err != nil || math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%s: %v, %v; want %v", name, got, err, c.want)
		}
		if _, err := f.number([]byte("unable to connect\n")); !errors.Is(err, errNoNumber) {
			t.Errorf("%s of a program that says nothing: %v", name, err)
		}
	}
}

func TestWhatIsNoFigure(t *testing.T) {
	for _, text := range []string{"", "latency", "wrk:42%", "higher:x", "higher:(a)(b)", "lower:(", "counter:", "counter:Tcp", "counter:Nonsense", "symptom:"} {
		if f, err := Parse(text); err == nil {
			t.Errorf("%q: %+v", text, f)
		}
	}
}

func load(words ...string) *Load { return &Load{Words: words, Limit: 2 * time.Second} }

func measure(t *testing.T, figure string, l *Load) (float64, error) {
	t.Helper()
	f, err := Parse(figure)
	if err != nil {
		t.Fatal(err)
	}
	return Bench{Figure: f, Load: l, For: 300 * time.Millisecond}.Measure(context.Background())
}

func TestALoadIsRun(t *testing.T) {
	if v, err := measure(t, "time", load("sleep", "0.2")); err != nil || v < 0.2 || v > 2 {
		t.Errorf("%v %v", v, err)
	}
	if v, err := measure(t, "exit", load("true")); err != nil || v != 0 {
		t.Errorf("%v %v", v, err)
	}
	if v, err := measure(t, "exit", load("false")); err != nil || v != 1 {
		t.Errorf("%v %v", v, err)
	}
	if v, err := measure(t, "higher:got ([0-9]+)", load("echo", "got", "17")); err != nil || v != 17 {
		t.Errorf("%v %v", v, err)
	}
	// No shell: the sign is a plain word.
	if v, err := measure(t, "higher:([0-9]+) [$]", load("echo", "5 $HOME;", "x")); err != nil || v != 5 {
		t.Errorf("%v %v", v, err)
	}
	if _, err := measure(t, "time", load("false")); !errors.Is(err, ablate.ErrFailed) {
		t.Error(err)
	}
	began := time.Now()
	if _, err := measure(t, "time", load("sleep", "60")); !errors.Is(err, ablate.ErrFailed) || !strings.Contains(err.Error(), "did not end within") {
		t.Error(err)
	}
	if time.Since(began) > 20*time.Second {
		t.Error("it was not ended")
	}
	_, err := measure(t, "time", load("/no/such/program"))
	if err == nil || errors.Is(err, ablate.ErrFailed) {
		t.Errorf("a program that is not there: %v", err)
	}
}

// What a load started ends with its run.
func TestALoadsChildrenEndWithIt(t *testing.T) {
	mark := "sleep 61.25"
	l := load("setsid", "--wait", "true") // only to see that a session of its own is fine
	if _, err := measure(t, "time", l); err != nil {
		t.Fatal(err)
	}
	sh := &Load{Words: []string{"sh", "-c", mark + " & wait"}, Limit: 500 * time.Millisecond}
	if _, err := measure(t, "time", sh); !errors.Is(err, ablate.ErrFailed) {
		t.Fatal(err)
	}
	all, _ := os.ReadDir("/proc")
	for _, p := range all {
		if b, err := os.ReadFile("/proc/" + p.Name() + "/cmdline"); err == nil && strings.HasPrefix(string(b), "sleep\x0061.25") {
			t.Errorf("process %s lives on", p.Name())
		}
	}
}

func TestACounterOfTheKernel(t *testing.T) {
	c, err := net.Dial("udp", "127.0.0.1:9") // nobody listens there
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				_, _ = c.Write([]byte("x"))
			}
		}
	}()
	if v, err := measure(t, "counter:UdpNoPorts", nil); err != nil || v < 5 || v > 500 {
		t.Errorf("%v %v", v, err)
	}
	if v, err := measure(t, "counter:Udp_RcvbufErrors", nil); err != nil || v != 0 {
		t.Errorf("%v %v", v, err)
	}
	f, err := Parse("counter:TcpExtNoSuchThing")
	if err != nil {
		t.Fatal(err)
	}
	if err := (Bench{Figure: f}).Check(); err == nil {
		t.Error("a counter that is not there was found")
	}
	if _, err := measure(t, "counter:UdpNoPorts", load("false")); !errors.Is(err, ablate.ErrFailed) {
		t.Errorf("under a load that fails: %v", err)
	}
	if _, err := measure(t, "counter:UdpNoPorts", load("sleep", "0.05")); err != nil {
		t.Errorf("under a load that runs again and again: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("wrk:99%", wrkSays)
	f.Add("higher:([0-9.]+)", "1.5 a 1e999")
	f.Add("counter:UdpInErrors", "")
	f.Fuzz(func(t *testing.T, text, out string) {
		if len(text) > 200 {
			return
		}
		fig, err := Parse(text)
		if err != nil || fig.Kind != Output {
			return
		}
		if v, err := fig.number([]byte(out)); err == nil && math.IsNaN(v) && !strings.Contains(strings.ToLower(out), "nan") {
			t.Errorf("%q of %q: %v", text, out, v)
		}
	})
}
