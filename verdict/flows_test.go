package verdict

import (
	"strings"
	"testing"

	"snag/recording"
	"snag/recording/rectest"
)

// shop is a host whose answers need one of a database on another.
const shop = "../suspects/testdata/slow-dependency/guilty.txtar"

// database is that other host: each answer takes SUM/20, and needs one of a store on a third.
const database = `
-- manifest --
{"seconds": 8}
-- processes --
{"t":"0..8","pid":60,"comm":"postgres","netns":1,"uid":0,"state":"S","threads":6,"cpu_seconds":"1+0.01x"}
-- threads --
{"t":"0..8","pid":60,"tid":61,"comm":"postgres","state":"S","syscall":"read","fd":9,"on_cpu_seconds":"0.1+0.01x","run_delay_seconds":0,"voluntary_switches":"10+25x","involuntary_switches":0}
{"t":"0..8","pid":60,"tid":62,"comm":"postgres","state":"S","syscall":"read","fd":9,"on_cpu_seconds":"0.1+0.01x","run_delay_seconds":0,"voluntary_switches":"10+25x","involuntary_switches":0}
{"t":"0..8","pid":60,"tid":63,"comm":"postgres","state":"S","syscall":"read","fd":9,"on_cpu_seconds":"0.1+0.01x","run_delay_seconds":0,"voluntary_switches":"10+25x","involuntary_switches":0}
-- sockets --
{"t":"0..8","netns":1,"inode":20,"proto":"tcp","state":"LISTEN","local":"0.0.0.0:5432","owners":[{"pid":60,"comm":"postgres","fd":3}],"recv_q":0,"send_q":511,"drops":0}
{"t":"0..8","netns":1,"inode":22,"proto":"tcp","state":"ESTABLISHED","local":"10.0.0.9:51000","remote":"10.0.0.20:3260","owners":[{"pid":60,"comm":"postgres","fd":9}],"recv_q":0,"send_q":0,"drops":0,"tcp":{"rtt":0.0005,"min_rtt":0.0002,"bytes_received":"2000+1280x","bytes_sent":"1000+1280x","bytes_acked":"1000+1280x"}}
-- turns --
{"t":"0..7","netns":1,"role":"serve","local":"10.0.0.9:5432","remote":"10.0.0.1","pid":60,"comm":"postgres","n":20,"sum":SUM,"max":0.43,"wait_sum":0.02,"open":0,"oldest":0}
{"t":"0..7","netns":1,"role":"serve","local":"10.0.0.9:5432","remote":"10.0.0.2","pid":60,"comm":"postgres","n":20,"sum":8,"max":0.43,"wait_sum":0.02,"open":0,"oldest":0}
{"t":"0..7","netns":1,"role":"call","local":"10.0.0.9","remote":"10.0.0.20:3260","pid":60,"comm":"postgres","n":20,"sum":7.8,"max":0.42,"wait_sum":0,"open":0,"oldest":0}
`

// twoHosts judges both together; the database's times are later by so much.
func twoHosts(t *testing.T, sum string, later recording.Time) (*Verdict, string) {
	t.Helper()
	a, err := rectest.Load(shop)
	if err != nil {
		t.Fatal(err)
	}
	b, err := rectest.Parse([]byte(strings.ReplaceAll(database, "SUM", sum)))
	if err != nil {
		t.Fatal(err)
	}
	a.Recording.Manifest.Host, b.Recording.Manifest.Host = "shop-1", "db-1"
	b.Recording.Manifest.Start += later
	b.Recording.Manifest.End += later
	v := Judge(&recording.Recording{Manifest: a.Recording.Manifest, Parts: []*recording.Recording{a.Recording, b.Recording}})
	var out strings.Builder
	for _, e := range v.Entries {
		if e.State == Culprit || e.State == Consequence {
			out.WriteString(string(e.State) + " " + e.Suspect.Name + " " + e.Subject.Name + "\n")
			for _, l := range e.Chain {
				out.WriteString("  → " + l.Name + " " + l.Subject.Name + "\n")
			}
		}
	}
	return v, out.String()
}

// The shop waits for the database, which waits for its store: one cause, on the database's host, that both suffer from.
func TestACauseBehindTheCallsThatBothHostsSaw(t *testing.T) {
	_, got := twoHosts(t, "7.9", 0)
	for _, want := range []string{
		"culprit slow-dependency postgres[60] tcp 10.0.0.9:51000 → 10.0.0.20:3260 on db-1\n",
		"consequence slow-dependency api[60] tcp 10.0.0.1:51000 → 10.0.0.9:5432 on shop-1\n",
		"  → request-latency api[60] tcp 10.0.0.1:51000 → 10.0.0.9:5432 on shop-1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in\n%s", want, got)
		}
	}
	if strings.Count(got, "culprit ") != 1 {
		t.Errorf("one cause, and not more:\n%s", got)
	}
}

// The database answers this caller in a millisecond, so that the time passes on the way; or it was recorded at another
// time. Then what holds up the database's other callers is no cause of the shop's.
func TestNoCauseBehindCallsThatAreAnsweredOrNotSeen(t *testing.T) {
	for name, c := range map[string]struct {
		sum   string
		later recording.Time
	}{"answered at once": {"0.02", 0}, "another time": {"7.9", 3600e9}} {
		if _, got := twoHosts(t, c.sum, c.later); strings.Contains(got, "consequence slow-dependency api") {
			t.Errorf("%s: the hosts were joined:\n%s", name, got)
		}
	}
}

// Hosts of one kind have the same private addresses, and ask themselves at them: that ties no two of them.
func TestTheSameAddressesOnBothHosts(t *testing.T) {
	own := func() *host {
		return &host{r: &recording.Recording{Turns: []recording.Turns{
			{Role: "call", Local: "172.17.0.1", Remote: "172.17.0.2:80", PID: 7, N: 3},
			{Role: "serve", Local: "172.17.0.2:80", Remote: "172.17.0.1", PID: 8, N: 3},
			{Role: "call", Local: "127.0.0.1", Remote: "127.0.0.1:80", PID: 7, N: 3},
		}}}
	}
	if got := tiesOf([]*host{own(), own()}); len(got) > 0 {
		t.Errorf("%d ties: %+v", len(got), got[0])
	}
}
