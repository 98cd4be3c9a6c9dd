package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"snag/fleet/fetch"
	"snag/fleet/hosts"
)

// recordedFor is how long the recordings are that the hosts are asked for. The latest seconds of a ring are not written
// yet.
const (
	recordedFor = time.Minute
	notYet      = 5 * time.Second
)

// fetched is what became of a host's recording.
type fetched struct {
	host, file string // file: its name in the folder
	err        error
}

// fetchAll gets the recordings of all hosts at a time: one that does not answer keeps no other waiting. A recording
// that can't be read is a failure of its host alone.
func fetchAll(ctx context.Context, from *fetch.Source, all *hosts.Fleet, matter []*hosts.Host, dir string) []fetched {
	out := make([]fetched, len(matter))
	var group sync.WaitGroup
	for i, h := range matter {
		out[i] = fetched{host: h.Name, file: fileOf(h.Name, i)}
		group.Go(func() {
			one, file := &out[i], filepath.Join(dir, out[i].file)
			to := h.ByItsClock(all.At.Add(-notYet))
			if one.err = from.Get(ctx, h.Name, all.Addresses(h), to.Add(-recordedFor), to, file); one.err != nil {
				return
			}
			if _, _, err := inChild(ctx, dir, []string{"show", "--table=facts", one.file}); err != nil {
				one.err = errors.New("what came can't be read: " + strings.ReplaceAll(err.Error(), one.file, "the recording"))
			}
		})
	}
	group.Wait()
	return out
}

// fileOf is a name for a host's file that people know it by. A host's name comes from the store, and may be anything.
func fileOf(host string, i int) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.' {
			return r
		}
		return '_'
	}, host)
	if plain != host || len(plain) > 60 || plain == "" || plain[0] == '.' {
		plain = fmt.Sprintf("host-%d", i+1)
	}
	return plain + ".snag"
}
