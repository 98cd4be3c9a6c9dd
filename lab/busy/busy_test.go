package busy

import (
	"strings"
	"testing"
	"time"

	"snag/lab"
	"snag/lab/labtest"
	"snag/recording/rectest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// Every load begins, its service answers meanwhile, and it does not end by itself.
func TestLoads(t *testing.T) {
	for _, l := range Loads {
		t.Run(l.Name, func(t *testing.T) {
			s := labtest.Start(t, l, lab.Healthy)
			before, err := s.Counter(s.Name("site"), "Tcp", "InSegs")
			if err != nil {
				t.Fatal(err)
			}
			if got := labtest.Growth(t, s, s.Name("site"), "Udp", "InDatagrams", time.Second); got < 150 {
				t.Errorf("%d datagrams of the call in a second, want about 300", got)
			}
			if after, err := s.Counter(s.Name("site"), "Tcp", "InSegs"); err != nil || after < before+10 {
				t.Errorf("%d segments to the web server in a second (%v): nobody asks", after-before, err)
			}
		})
	}
}

func TestSeen(t *testing.T) {
	c, err := rectest.Parse([]byte(`-- manifest --
{"seconds": 10}
-- samples --
node_cpu_seconds_total{cpu="0",mode="idle"} 0+0.2x10
node_cpu_seconds_total{cpu="0",mode="user"} 0+0.7x10
node_cpu_seconds_total{cpu="0",mode="iowait"} 0+0.1x10
node_schedstat_waiting_seconds_total{cpu="0"} 0+1.5x10
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := Seen(c.Recording); !strings.HasPrefix(got, "CPUs 70 % busy, 10 % waiting for a disk, 1.5 threads waited") {
		t.Errorf("said %q", got)
	}
}
