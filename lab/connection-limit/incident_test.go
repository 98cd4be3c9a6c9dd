package connectionlimit

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// What a further client, of the test itself, is answered.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		refused := 0
		for range 10 {
			var c net.Conn
			if err := netns.DoNamed(s.Name("clients"), func() (err error) {
				c, err = net.DialTimeout("tcp4", "10.89.3.2:6380", 2*time.Second)
				return err
			}); err != nil {
				t.Fatal(err)
			}
			_ = c.SetDeadline(time.Now().Add(300 * time.Millisecond))
			said, _ := io.ReadAll(c)
			if strings.HasPrefix(string(said), "-ERR max number of clients") {
				refused++
			}
			c.Close()
		}
		if (v == lab.Sick) != (refused == 10) || v != lab.Sick && refused > 0 {
			t.Errorf("%s: refused %d times of 10", v, refused)
		}
	})
}
