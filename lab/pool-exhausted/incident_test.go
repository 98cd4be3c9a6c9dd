package poolexhausted

import (
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// How long requests of a further client, of the test itself, take: a call takes 10 ms.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		var c net.Conn
		if err := netns.DoNamed(s.Name("clients"), func() (err error) {
			c, err = net.DialTimeout("tcp4", "10.89.4.2:6432", 2*time.Second)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var took []time.Duration
		buf := make([]byte, 128)
		for range 21 {
			begin := time.Now()
			if _, err := c.Write(buf); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, buf); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(begin))
		}
		slices.Sort(took)
		if p50 := took[10]; (v == lab.Sick) != (p50 >= 40*time.Millisecond) {
			t.Errorf("%s: half of the requests took over %v", v, p50)
		}
	})
}
