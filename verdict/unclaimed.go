package verdict

import (
	"fmt"
	"strings"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
)

// unclaimed says of the late answers that a symptom is about, where nobody was proved to make
// them late, where their time goes, and the measurement that would tell more.
func (v *Verdict) unclaimed(sym scene.Symptom) (text, next string) {
	if v.Ledger == nil || sym.Name != scene.RequestLatency {
		return "", ""
	}
	at := func(p *ledger.Party) bool {
		return scene.IDOf(p.Subject) == scene.IDOf(sym.Subject) && len(p.Entries) > 0
	}
	name := v.Scene.Name(sym.Subject)
	for _, role := range []ledger.Role{ledger.Serves, ledger.Calls} { // what happens inside tells more
		for _, d := range v.Ledger.Felt {
			if d.Party.Role == role && at(d.Party) && len(d.By) > 0 {
				return fmt.Sprintf("%s of %s are held up at any moment (%s), and no cause was proved", Requests(d.Held), name, shares(d.By)), nextAt(d.By[0].Account, d.Party)
			}
		}
		for _, p := range v.Ledger.Parties {
			if p.Role == role && at(p) {
				all := whole(p)
				return fmt.Sprintf("answers of %s are late (of the time of all: %s), and no cause was proved", name, shares(all)), nextAt(all[0].Account, p)
			}
		}
	}
	return "", ""
}

// whole are the accounts of all of a party's time.
func whole(p *ledger.Party) (out []ledger.Part) {
	for _, e := range p.Entries {
		out = append(out, ledger.Part{Account: e.Account, Share: e.Seconds / p.Demand})
	}
	return out
}

// shares are the accounts that have most of a time, in words.
func shares(all []ledger.Part) string {
	var out []string
	for i, p := range all {
		if i == 3 || i > 0 && p.Share < 0.1 {
			break
		}
		out = append(out, fmt.Sprintf("%.0f %% %s", 100*p.Share, p.Account.Words()))
	}
	return strings.Join(out, ", ")
}

// Requests writes how many requests are held up on average.
func Requests(n float64) string {
	if n >= 10 {
		return fmt.Sprintf("%.0f requests", n)
	}
	return fmt.Sprintf("%.2g requests", n)
}

// nextAt is the measurement that tells most about time in an account.
func nextAt(a ledger.Account, p *ledger.Party) string {
	if p.Role == ledger.Calls {
		return fmt.Sprintf("ss -tnpoi dst %s   # rtt, retrans, rwnd_limited of the connections", recording.Host(p.Address))
	}
	if !a.Inside() || len(p.PIDs) == 0 {
		return ""
	}
	pid := p.PIDs[0]
	switch a {
	case ledger.Work:
		return fmt.Sprintf("snag profile --pid %d   # in which function it computes", pid)
	case ledger.CPU, ledger.Quota:
		return fmt.Sprintf("pidstat -u 1 5; cat /proc/%d/cgroup   # who uses the CPUs, and its quota", pid)
	case ledger.Disk:
		return fmt.Sprintf("iostat -x 1 5; cat /proc/%d/io   # which device, and who uses it", pid)
	case ledger.Call:
		return fmt.Sprintf("snag find --pid %d --for 60s   # which services it calls, and how long each call takes", pid)
	}
	return fmt.Sprintf("eu-stack -p %d   # in which functions its threads wait; a few times", pid)
}
