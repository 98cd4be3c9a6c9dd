package syscallfailing

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"snag/internal/netns"
	"snag/lab"
	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }

// What a client of the test's own is answered.
func TestTruth(t *testing.T) {
	labtest.Together(t, Incident, func(t *testing.T, s *lab.Stage, v lab.Variant) {
		dial := func(_ context.Context, network, addr string) (c net.Conn, err error) {
			err = netns.DoNamed(s.Name("clients"), func() (err error) { c, err = net.DialTimeout(network, addr, 2*time.Second); return err })
			return c, err
		}
		client := &http.Client{Transport: &http.Transport{DialContext: dial}, Timeout: 5 * time.Second}
		seen := map[int]int{}
		for range 60 {
			answer, err := client.Get("http://10.89.3.2:8084/")
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			seen[answer.StatusCode]++
		}
		if (v == lab.Sick) != (seen[500] == 60) || (v == lab.Distractor) != (seen[503] >= 8) || v == lab.Healthy && seen[200] != 60 {
			t.Errorf("%s: %v", v, seen)
		}
	})
}
