package drawn

import (
	"encoding/json"
	"math"
	"testing"

	"snag/lab"
	"snag/lab/referee"
)

// A proxy whose calls wait in an application: its requests are in line there behind threads that
// sleep, and one in ten seconds of them computes.
const waits = `{"requests": [
	{"role": "call", "subject_ref": {"local": "10.0.0.1:80"}, "seconds": 100, "held": 9, "accounts": [{"account": "call", "where": "10.0.0.1:80", "seconds": 60}, {"account": "loss", "seconds": 40}]},
	{"role": "serve", "subject_ref": {"local": "0.0.0.0:80"}, "seconds": 100, "held": 8, "accounts": [{"account": "call", "where": "10.0.0.2:8080", "seconds": 80}, {"account": "work", "seconds": 20}]},
	{"role": "serve", "subject_ref": {"local": "0.0.0.0:8080"}, "seconds": 80, "held": 3, "accounts": [{"account": "sleep", "seconds": 40, "in_line_seconds": 30}, {"account": "unread", "seconds": 32}, {"account": "work", "seconds": 8}]}]}`

func TestWhatAFaultTookIsBooked(t *testing.T) {
	var a lab.Answer
	if err := json.Unmarshal([]byte(waits), &a); err != nil {
		t.Fatal(err)
	}
	healthy, faulty := referee.Figures{Requests: 1000, Mean: 0.010}, referee.Figures{Requests: 400, Mean: 0.040}
	for account, found := range map[string]float64{
		"in line": 0.62, // four fifths of 30 and 32 of 80
		"sleep":   0.40,
		"call":    0.80, // that it waits is all that this account says
		"work":    0.28, // here and there
		"lock":    0,
		"loss":    0.40, // only callers see it
	} {
		got := bookedOf(Truth{Account: account, Lasting: Throughout}, healthy, faulty, a)
		if got == nil || math.Abs(got.Found-found) > 0.001 || math.Abs(got.Injected-0.75) > 0.001 || got.right() != (account == "in line" || account == "call") {
			t.Errorf("%s: %+v, want %v of 0.75", account, got, found)
		}
	}
	// What the fault makes of the clients' mean is a share of it: so is what is found. The
	// clients ask the proxy; the neighbour has more requests, and the application is asked by it.
	const far = `{"requests": [
		{"role": "serve", "subject_ref": {"local": "127.0.0.1:7783"}, "seconds": 500, "accounts": [{"account": "call", "where": "10.0.0.9:99", "seconds": 500}]},
		{"role": "serve", "subject_ref": {"local": "0.0.0.0:8080"}, "seconds": 200, "accounts": [{"account": "parked", "seconds": 200}]},
		{"role": "call", "subject_ref": {"local": "0.0.0.0:80"}, "seconds": 100, "accounts": [{"account": "path", "seconds": 60}, {"account": "call", "seconds": 40}]},
		{"role": "serve", "subject_ref": {"local": "0.0.0.0:80"}, "seconds": 40, "accounts": [{"account": "call", "where": "10.0.0.2:8080", "seconds": 40}]}]}`
	a = lab.Answer{}
	if err := json.Unmarshal([]byte(far), &a); err != nil {
		t.Fatal(err)
	}
	if got := bookedOf(Truth{Account: "call", Lasting: Throughout}, healthy, faulty, a); got == nil || math.Abs(got.Found-0.4) > 0.001 {
		t.Errorf("a service far away: %+v, want 0.4", got)
	}
	for name, got := range map[string]*Booked{
		"the ledger has no such account": bookedOf(Truth{Account: "errors", Lasting: Throughout}, healthy, faulty, a),
		"it came and went":               bookedOf(Truth{Account: "sleep", Lasting: Episodes}, healthy, faulty, a),
		"hardly longer":                  bookedOf(Truth{Account: "sleep", Lasting: Throughout}, healthy, referee.Figures{Requests: 1000, Mean: 0.012}, a),
		"too few":                        bookedOf(Truth{Account: "sleep", Lasting: Throughout}, healthy, referee.Figures{Requests: 40, Mean: 0.040}, a),
	} {
		if got != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := bookedOf(Truth{Account: "sleep", Lasting: Throughout}, healthy, faulty, lab.Answer{}); got == nil || got.Found != 0 || got.right() {
		t.Errorf("an answer without requests: %+v", got)
	}
}
