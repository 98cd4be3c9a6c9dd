//go:build attack

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"
	"time"
)

// TestChanges does what the fuzz targets do without counting what was covered, which costs
// ten times as much: for a while, from a seed that it tells.
func TestChanges(t *testing.T) {
	var texts, heads [][]byte
	for _, b := range sickOnes(t, true) {
		one, err := text(b, 40)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, one)
	}
	for _, head := range kinds(t) {
		heads = append(heads, head[:min(len(head), 8192)])
	}
	bases := editable(t)
	ways := map[string]func(t *testing.T, pick *rand.Rand){
		"fields": func(t *testing.T, pick *rand.Rand) {
			judgeAll(t, packText(changed(texts[pick.IntN(len(texts))], pick.Uint64(), pick.IntN(64)+1)))
		},
		"rows": func(t *testing.T, pick *rand.Rand) {
			edits := make([]byte, editSize*(pick.IntN(16)+1))
			for i := range edits {
				edits[i] = byte(pick.Uint32())
			}
			judgeEdited(t, bases[pick.IntN(len(bases))], edits)
		},
		"files": func(t *testing.T, pick *rand.Rand) {
			head := bytes.Clone(heads[pick.IntN(len(heads))])
			for range pick.IntN(8) + 1 {
				head[pick.IntN(len(head))] = byte(pick.Uint32())
			}
			t.Run("", func(t *testing.T) { readAndJudge(t, head) }) // its folder is removed then
		},
	}
	lasts := 80 * time.Second
	if d, err := time.ParseDuration(os.Getenv("SNAG_ATTACK")); err == nil {
		lasts = d
	}
	const slow = 5 * time.Second
	for name, way := range ways {
		first := uint64(time.Now().UnixNano())
		n := 0
		for end := time.Now().Add(lasts); time.Now().Before(end); n++ {
			seed, began := first+uint64(n), cpuTime()
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Errorf("panic: %s, seed %d: %v\n%s", name, seed, p, debug.Stack())
					}
				}()
				way(t, rand.New(rand.NewPCG(seed, 0)))
			}()
			if took := cpuTime() - began; took > slow {
				t.Errorf("%s, seed %d took %v", name, seed, took)
			}
		}
		t.Logf("%d renderings of changed %s, from seed %d", n, name, first)
	}
}
