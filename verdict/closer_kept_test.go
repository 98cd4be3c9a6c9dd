package verdict_test

import (
	"testing"

	"snag/recording"
	"snag/verdict"
)

// TestACloserLookAtTheGuilty: of what the lab recorded of causes that sit inside a
// process, the guilty one is among the first that get a closer look.
func TestACloserLookAtTheGuilty(t *testing.T) {
	for name, comm := range map[string]string{
		"spin-lock": "thread-server", "slow-consumer": "fanout-relay", "worker-queue": "thread-server", "log-silence": "log-worker",
		"lock-convoy": "thread-server",
	} {
		r, err := recording.Open("../lab/recordings/" + name + "-sick.snag")
		if err != nil {
			t.Fatal(err)
		}
		v := verdict.Judge(r)
		looks := verdict.Closer(v)
		found := false
		for i, l := range looks {
			p := v.Scene.Process(l.PID)
			t.Logf("%s: %s[%d]: %s", name, p.Last().Comm, l.PID, l.Why)
			found = found || i < 4 && p.Last().Comm == comm
		}
		if !found {
			t.Errorf("%s: %s is not among the first of %v", name, comm, looks)
		}
	}
}
