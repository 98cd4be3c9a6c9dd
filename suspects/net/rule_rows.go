package net

import (
	"fmt"
	"sort"

	"snag/recording"
	"snag/suspects/measure"
)

// ruleID names a rule of one namespace.
type ruleID struct {
	netns             uint64
	family, of, chain string
	handle            uint64
	policy            bool
}

// ruleThatDropped is the one rule that can drop whose counter grew by as much as
// these drops, in that namespace and, where it is known, at that hook; false where
// there is none or more than one. Rules without a counter can't be told.
func ruleThatDropped(r *recording.Recording, netns uint64, hook string, drops measure.Steps) (rule recording.Rule, hits float64, ok bool) {
	by := map[ruleID][]recording.Rule{}
	var order []ruleID
	for _, row := range r.Rules {
		if row.Netns != netns || row.Packets == nil || hook != "" && row.Hook != "" && row.Hook != hook {
			continue
		}
		k := ruleID{row.Netns, row.Family, row.Of, row.Chain, row.Handle, row.Verdict == "policy"}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], row)
	}
	found := 0
	for _, k := range order {
		rows := by[k]
		sort.SliceStable(rows, func(i, j int) bool { return rows[i].T < rows[j].T })
		first, last := rows[0], rows[len(rows)-1]
		if len(rows) < 2 || *last.Packets <= *first.Packets {
			continue // it did not count, or was loaded anew
		}
		grown := float64(*last.Packets - *first.Packets)
		if _, same := drops.AgreeIn(grown, recording.Interval{Start: first.T, End: last.T}); same {
			rule, hits, found = last, grown, found+1
		}
	}
	return rule, hits, found == 1
}

// ruleName is what a person finds the rule by: nft -a list chain FAMILY TABLE CHAIN.
func ruleName(r recording.Rule) string {
	name := fmt.Sprintf("%s %s %s", r.Family, r.Of, r.Chain)
	if r.Verdict == "policy" {
		return name + " policy drop"
	}
	name += fmt.Sprintf(" handle %d", r.Handle)
	if r.Text != "" {
		name += fmt.Sprintf(" (%s)", r.Text)
	}
	return name
}
