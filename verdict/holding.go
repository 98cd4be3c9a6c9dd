package verdict

import (
	"slices"

	"snag/ledger"
	"snag/scene"
)

// Holding is what an entry holds up of the requests whose time was booked.
type Holding struct {
	// Requests that wait because of it at a moment, on average, and their share of all that is
	// held up of the parties which it hurts.
	Requests, Share float64
	// AtMost: of most of that nobody saw what it waited for; it may have waited for something else.
	// Where more was seen than not, what was not seen is left out.
	AtMost bool
	At     []HeldParty
}

// HeldParty is a party whose requests are held up.
type HeldParty struct {
	Delay ledger.Delay
	// Claimed is what the entry explains, as shares of all the time of the party's requests.
	Claimed []ledger.Part
}

// hold works out what each culprit and what contributes holds up. A suspect that claims no account
// explains late answers without a number of its own, and has none here.
func (v *Verdict) hold() {
	if v.Ledger == nil {
		return
	}
	for i := range v.Entries {
		e := &v.Entries[i]
		if (e.State == Culprit || e.State == Contributing) && len(e.Suspect.Claims) > 0 {
			e.Holding = v.holding(*e)
		}
	}
}

func (v *Verdict) holding(e Entry) *Holding {
	out, all, open := &Holding{}, 0.0, 0.0
	seen := map[scene.NodeID]bool{}
	for _, i := range e.Explains {
		sym := v.Symptoms[i]
		id := scene.IDOf(sym.Subject)
		if sym.Name != scene.RequestLatency || sym.Elsewhere && !e.Elsewhere || seen[id] {
			continue
		}
		seen[id] = true
		greatest, worst := 0.0, HeldParty{}
		held, doubt := 0.0, 0.0
		for _, d := range v.Ledger.Felt {
			if scene.IDOf(d.Party.Subject) != id {
				continue
			}
			greatest = max(greatest, d.Held)
			sure, maybe := d.Claimed(e.Suspect.Claims)
			sure, maybe = most(e, sure), most(e, maybe)
			n, unsure := sum(sure), sum(maybe)
			if unsure <= n { // what is known is most of it, and enough
				maybe, unsure = nil, 0
			}
			if (n+unsure)*d.Held > held {
				held, doubt = (n+unsure)*d.Held, unsure*d.Held
				worst = HeldParty{d, ofAll(slices.Concat(sure, maybe), d)}
			}
		}
		if all += greatest; held > 0 {
			out.Requests, open = out.Requests+held, open+doubt
			out.At = append(out.At, worst)
		}
	}
	if out.Requests == 0 {
		return nil
	}
	out.Share, out.AtMost = min(1, out.Requests/all), open > out.Requests/2
	return out
}

// most are the parts as far as an entry can have caused them.
func most(e Entry, parts []ledger.Part) (out []ledger.Part) {
	for _, p := range parts {
		if e.from != nil {
			p.Share = e.from.finding.Most(p.Share)
		}
		out = append(out, p)
	}
	return out
}

func sum(parts []ledger.Part) (share float64) {
	for _, p := range parts {
		share += p.Share
	}
	return share
}

// ofAll turns parts of a delay into parts of all the time of its requests, each account once.
func ofAll(parts []ledger.Part, d ledger.Delay) (out []ledger.Part) {
	for _, p := range parts {
		share := p.Share * d.Share
		if i := slices.IndexFunc(out, func(o ledger.Part) bool { return o.Account == p.Account }); i >= 0 {
			out[i].Share += share
			continue
		}
		out = append(out, ledger.Part{Account: p.Account, Share: share})
	}
	return out
}

// Hurt is the delay of a party's requests where it is felt, and false where it is not.
func (v *Verdict) Hurt(p *ledger.Party) (ledger.Delay, bool) {
	for _, d := range v.Ledger.Felt {
		if d.Party == p {
			return d, true
		}
	}
	return ledger.Delay{}, false
}

// Claims are the parts of the time of a party's requests that culprits explain, as shares of all of
// it, each with the culprit that explains most of it.
func (v *Verdict) Claims(p *ledger.Party) map[ledger.Account]Claim {
	out := map[ledger.Account]Claim{}
	for _, e := range v.With(Culprit) {
		if e.Holding == nil {
			continue
		}
		for _, at := range e.Holding.At {
			for _, part := range at.Claimed {
				if at.Delay.Party == p && part.Share > out[part.Account].Share {
					out[part.Account] = Claim{e.ID, e.Suspect.Name, part.Share}
				}
			}
		}
	}
	return out
}

// Claim is the part of an account that a culprit explains.
type Claim struct {
	ID, Suspect string  // the culprit's entry
	Share       float64 // of all the time of the party's requests
}
