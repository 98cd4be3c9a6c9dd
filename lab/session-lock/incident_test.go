package sessionlock

import (
	"io"
	"net"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// How long the longest write of a further client, of the test itself, takes within four seconds.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		var c net.Conn
		if err := netns.DoNamed(s.Name("clients"), func() (err error) {
			c, err = net.DialTimeout("tcp4", "10.89.5.2:5432", 2*time.Second)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		longest := time.Duration(0)
		for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			buf := make([]byte, 128)
			buf[0] = 2 // a write
			begin := time.Now()
			if _, err := c.Write(buf); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(c, buf); err != nil {
				t.Fatal(err)
			}
			longest = max(longest, time.Since(begin))
		}
		if (v == lab.Sick) != (longest >= time.Second) {
			t.Errorf("%s: a write took %v", v, longest)
		}
	})
}
