package loaded

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"snag/load"
)

func answered(p load.Plan) *load.Result {
	h := hdrhistogram.New(1, 1e12, 3)
	_ = h.RecordValue(1e6)
	return &load.Result{Plan: p, Took: time.Second, Sent: 10, Done: 10, Answers: 10, Open: 4, FromDue: h, FromSent: h, Lag: hdrhistogram.New(1, 1e12, 3)}
}

// A limit of the server is said where it holds, with what it did.
func TestStreamsText(t *testing.T) {
	t.Parallel()
	four := 4
	for _, tt := range []struct {
		streams int
		s       load.Streams
		want    []string
		not     string
	}{
		{1, load.Streams{}, []string{"on 2 connections\n"}, "--streams"},
		{20, load.Streams{}, []string{"on 2 connections with up to 20 each (--streams)\n"}, "allows"},
		{20, load.Streams{Limit: &four}, []string{"the server allows 4 requests on one connection at a time", "of the 20 of --streams: none waited"}, "--conns"},
		{20, load.Streams{Limit: &four, Waited: 1234, Again: 3}, []string{"1,234 requests waited for that limit. More --conns", "(GOAWAY) before it began with them: 3 requests."}, "none"},
	} {
		r := answered(load.Plan{Rate: 10, Conns: 2, Streams: tt.streams})
		r.Streams = tt.s
		var b bytes.Buffer
		Loaded{Result: r}.Text(&b)
		one := strings.Join(strings.Fields(b.String()), " ")
		for _, want := range tt.want {
			if !strings.Contains(one, strings.TrimSpace(want)) {
				t.Errorf("%q is missing in\n%s", want, b.String())
			}
		}
		if strings.Contains(one, tt.not) {
			t.Errorf("%q is in\n%s", tt.not, b.String())
		}
	}
}

func TestStreamsJSON(t *testing.T) {
	t.Parallel()
	r := answered(load.Plan{Rate: 10, Conns: 2, Streams: 20})
	var b bytes.Buffer
	var out struct {
		Streams map[string]any
	}
	if err := (Loaded{Result: r}).JSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || out.Streams["limit"] != nil || out.Streams["each"] != 20.0 {
		t.Errorf("%v, %v", out, err)
	}
}
