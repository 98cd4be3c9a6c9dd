package rtmp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"snag/probes/streams/counterpart"
	"snag/probes/streams/stream"
)

// rtmplite3 is a server that shares no line with the others: chunks of 128 bytes,
// timestamps of its own, another order of answers.
func TestLiveRtmplite(t *testing.T) {
	t.Parallel()
	modules := counterpart.Rtmplite(t)
	port := counterpart.Port(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	c := exec.Command("/usr/bin/python3", "-m", "rtmplite3", "-i", "127.0.0.1", "-p", fmt.Sprint(port), "-r", t.TempDir()+"/")
	c.Env = append(os.Environ(), "PYTHONPATH="+modules, "PYTHONDONTWRITEBYTECODE=1")
	counterpart.Start(t, c)
	counterpart.Await(t, address)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sink := &seen{}
	done := make(chan error)
	go func() {
		done <- openAt(t, ctx, "rtmp://"+address+"/live/cam1", sink, stream.Options{Every: 40 * time.Millisecond})
	}()
	publish(t, "rtmp://"+address+"/live/cam1", 4)
	err := <-done
	var ended *stream.Ended
	if err != nil && !errors.As(err, &ended) {
		t.Errorf("%v", err)
	}
	t.Logf("the end: %v", err)
	check(t, "rtmplite3", sink)
}
