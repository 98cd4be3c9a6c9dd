package report

import (
	"testing"

	"snag/ledger"
	"snag/recording"
	"snag/scene"
	"snag/verdict"
)

// The service that the user asked about comes before a busier one.
func TestTargetFirst(t *testing.T) {
	busy := &ledger.Party{Subject: recording.Subject{Kind: recording.KindListener, Local: "0.0.0.0:80"}, Open: 9}
	asked := &ledger.Party{Subject: recording.Subject{Kind: recording.KindListener, Local: "0.0.0.0:5432"}, Open: 1}
	v := &verdict.Verdict{Recording: &recording.Recording{}, Scene: &scene.Scene{}, Ledger: &ledger.Ledger{Parties: []*ledger.Party{busy, asked}}}
	if got := targetFirst(v); got[0] != busy || got[1] != asked {
		t.Error("without a target the order changed")
	}
	v.Recording.Manifest.Target.Port = 5432
	if got := targetFirst(v); len(got) != 2 || got[0] != asked || got[1] != busy {
		t.Error("the target's requests do not come first")
	}
}
