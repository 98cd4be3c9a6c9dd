package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"snag/load"
)

// A person agrees with y; whatever else is no, and nobody is asked where --yes says it.
func TestConsent(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y\n": true, "Yes\n": true, "n\n": false, "\n": false, "": false, "yellow\n": false} {
		var out bytes.Buffer
		err := consent{in: strings.NewReader(answer), out: &out}.to("tcp://192.0.2.1:9", "to", "send it more than 1000 requests per second")
		if (err == nil) != want {
			t.Errorf("%q: %v", answer, err)
		}
		if out.String() != "tcp://192.0.2.1:9 is not on this host: send it more than 1000 requests per second? [y/N] " {
			t.Errorf("the question is %q", out.String())
		}
	}
	if err := (consent{}).to("t", "to", "send much"); err == nil || !strings.Contains(err.Error(), "--yes to send much") {
		t.Errorf("nobody is there: %v", err)
	}
	if err := (consent{yes: true, in: strings.NewReader("n\n")}).to("t", "to", "send much"); err != nil {
		t.Errorf("--yes: %v", err)
	}
}

// Requests per second count, and connections, of which each takes a place at the service.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a    asked
		want string
	}{
		{asked{to: 1000, conns: []int{10}}, ""},
		{asked{to: 1001, conns: []int{10}}, "more than 1000 requests"},
		{asked{to: 0, conns: []int{1}}, "more than 1000 requests"}, // as many as possible
		{asked{to: 1, conns: []int{100_000}}, "open 100,000 connections to it"},
		{asked{to: 1, conns: []int{1, 2000}}, "open 2,000 connections to it"},
		{asked{to: 3, conns: []int{1, 2000}, every: time.Second}, "more than 1000 requests"},
		{asked{to: 1, plan: load.Plan{Conns: 1}}, ""}, // of snag eliminate
	} {
		if got := tt.a.tooMuch(); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %q, want %q", tt.a, got, tt.want)
		}
	}
	here, err := load.ParseTarget("tcp://127.0.0.1:9", load.Request{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := mayAsk(context.Background(), asked{to: 1e6, conns: []int{1}, plan: load.Plan{Target: here}}, consent{}); err != nil {
		t.Errorf("on this host: %v", err)
	}
}
