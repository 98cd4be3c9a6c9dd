package compare

import (
	"slices"

	"snag/ledger"
	"snag/recording"
)

// Asked is a request that snag sent itself: when, how long its answer took, and whether it is an error.
type Asked struct {
	At, Took float64 // s since the beginning
	Failed   bool
	Why      string // it failed: "503", "connection refused"
	None     bool   // there was no answer at all
}

// Answers compares two services that were asked at the same time, by their URLs. The recordings say on
// which host and when.
func Answers(a, b *recording.Recording, urlA, urlB string, askedA, askedB []Asked) *Comparison {
	c := &Comparison{A: a, B: b, Together: true}
	c.MuteA, c.MuteB = mute(askedA), mute(askedB)
	if c.MuteA != "" || c.MuteB != "" {
		return c
	}
	was, now := askedBlocks(askedA, a), askedBlocks(askedB, b)
	one := Party{
		A: askedParty(urlA, askedA, a), B: askedParty(urlB, askedB, b),
		Time:   newChange(was.time, now.time, leastTime, amounts),
		Failed: newChange(was.failed, now.failed, leastShare, events),
	}
	one.RateA, one.RateB = one.A.Rate, one.B.Rate
	if min(one.A.Answered, one.B.Answered) < fewAnswers || !one.Time.enough() {
		c.TooFew = []string{urlB}
		return c
	}
	c.Compared = 2
	one.judge(c.Compared)
	c.Parties = []Party{one}
	return c
}

// mute says why a service gave no answer that is no error; "" where it gave one. Without requests
// nothing is known.
func mute(all []Asked) string {
	if len(all) == 0 {
		return "no request was answered within the time"
	}
	if slices.ContainsFunc(all, func(x Asked) bool { return !x.Failed }) {
		return ""
	}
	return all[len(all)-1].Why
}

// askedBlocks are the blocks of a recording's time; of what was not answered nothing took time.
func askedBlocks(all []Asked, r *recording.Recording) (out parts) {
	n := seconds(r)
	length := max(blockLeast, (n+mostBlocks-1)/mostBlocks)
	out.failed, out.time = make([]block, n/length), make([]block, n/length)
	for _, x := range all {
		i := int(x.At) / length
		if i >= n/length {
			continue
		}
		out.failed[i].of++
		if x.Failed {
			out.failed[i].part++
		}
		if !x.None {
			out.time[i].of++
			out.time[i].part += x.Took
		}
	}
	empty := func(x block) bool { return x.of == 0 }
	out.failed, out.time = slices.DeleteFunc(out.failed, empty), slices.DeleteFunc(out.time, empty)
	return out
}

func askedParty(url string, all []Asked, r *recording.Recording) *ledger.Party {
	p := &ledger.Party{Role: ledger.Calls, Address: url, Subject: recording.Subject{Name: url}, Answered: uint64(len(all))}
	p.Rate = float64(len(all)) / max(1, r.Length().Seconds())
	return p
}
