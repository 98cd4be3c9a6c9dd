package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"snag/fleet/objects"
	"snag/internal/cli"
	"snag/internal/private"
	"snag/internal/shown"
)

// storedFlags are those of snag incidents on a store.
type storedFlags struct {
	from, host string
	newest     int
	where      objectFlags
}

// mostNewest bounds the documents that a list reads, readAtOnce how many at a time.
const (
	mostNewest = 200
	readAtOnce = 8
)

func (f *storedFlags) register(cmd *cobra.Command) {
	flags := cmd.PersistentFlags()
	flags.StringVar(&f.from, "from", "", "read the folder or object store that snag record --incidents-to writes, as file:///srv/incidents or s3://BUCKET/PREFIX, instead of this host's ring")
	f.where.register(cmd, true)
	cmd.Flags().StringVar(&f.host, "host", "", "of a store: only the incidents of this host")
	cmd.Flags().IntVar(&f.newest, "newest", mostNewest, "of a store: so many incidents, the newest")
}

// store opens the store of --from; nil: none was given.
func (f *storedFlags) store() (objects.Store, error) {
	switch {
	case f.from == "" && (f.where.given() || f.host != ""):
		return nil, cli.Usage("--host, --incidents-endpoint, --incidents-region, --incidents-credentials: with --from")
	case f.from == "":
		return nil, nil
	case f.newest < 1:
		return nil, cli.Usage("--newest %d: from 1 on", f.newest)
	}
	return f.where.open("--from", f.from, 0)
}

// list writes the incidents of a store.
func (f *storedFlags) list(ctx context.Context, w io.Writer, store objects.Store, asJSON bool) error {
	found, err := objects.List(ctx, store, f.host)
	if err != nil {
		return err
	}
	older := max(0, len(found)-f.newest)
	all, err := readAll(ctx, store, found[older:])
	if err != nil && len(all) == 0 {
		return err
	}
	warn := shown.To(os.Stderr)
	if err != nil {
		fmt.Fprintf(warn, "snag: %v\n", err)
	}
	if older > 0 {
		fmt.Fprintf(warn, "snag: the newest %d of %d incidents; --newest N lists more\n", f.newest, len(found))
	}
	if asJSON {
		enc := json.NewEncoder(shown.JSON(w))
		for _, d := range all {
			if err := enc.Encode(d); err != nil {
				return err
			}
		}
		return nil
	}
	return writeStored(shown.To(w), store, all)
}

// readAll reads documents, in their order. Those that cannot be read are in the error.
func readAll(ctx context.Context, store objects.Store, found []objects.Found) ([]objects.Document, error) {
	docs, errs := make([]objects.Document, len(found)), make([]error, len(found))
	var reading sync.WaitGroup
	room := make(chan struct{}, readAtOnce)
	for n, one := range found {
		room <- struct{}{}
		reading.Go(func() {
			defer func() { <-room }()
			docs[n], errs[n] = objects.Read(ctx, store, one.Name)
		})
	}
	reading.Wait()
	var out []objects.Document
	for n, err := range errs {
		if err == nil {
			out = append(out, docs[n])
		}
	}
	return out, firstErrors(errs)
}

const mostErrors = 3

// firstErrors names the first ones and counts the others.
func firstErrors(errs []error) error {
	var out []error
	more := 0
	for _, err := range errs {
		switch {
		case err == nil:
		case len(out) < mostErrors:
			out = append(out, err)
		default:
			more++
		}
	}
	if more > 0 {
		out = append(out, fmt.Errorf("%d more incidents could not be read", more))
	}
	return errors.Join(out...)
}

func writeStored(out io.Writer, store objects.Store, all []objects.Document) error {
	if len(all) == 0 {
		_, err := fmt.Fprintf(out, "no incidents in %s\n", store)
		return err
	}
	groups := groupedBy(all, func(d objects.Document) string { return d.Host + " " + d.GroupKey() })
	width := len("INCIDENT")
	for _, g := range groups {
		width = max(width, utf8.RuneCountInString(g[len(g)-1].Name))
	}
	if _, err := fmt.Fprintf(out, "%-*s %-7s %-6s %s\n", width, "INCIDENT", "LASTED", "TIMES", "WHAT"); err != nil {
		return err
	}
	for _, g := range groups {
		last := g[len(g)-1]
		if _, err := fmt.Fprintf(out, "%-*s %-7s %-6d %s\n", width, last.Name, lasted(last.Incident), len(g), cutTo(whatOf(last.Incident), columns()-width-16)); err != nil {
			return err
		}
	}
	return nil
}

// groupedBy groups what is ordered by time, by a key: the group of the latest first.
func groupedBy[T any](all []T, key func(T) string) (out [][]T) {
	at := map[string]int{}
	for n := range all {
		one := all[len(all)-1-n]
		k, known := at[key(one)]
		if !known {
			k = len(out)
			at[key(one)] = k
			out = append(out, nil)
		}
		out[k] = append([]T{one}, out[k]...)
	}
	return out
}

// show judges the recording of an incident in a store. It is another host's file, and read as such. keep is the folder
// for its files; "": they are removed.
func (f *storedFlags) show(ctx context.Context, store objects.Store, name, keep string, how showFlags) error {
	if _, is := objects.ParseName(name); !is {
		return cli.Usage("incident %s: HOST/TIME-N, as snag incidents --from lists it", name)
	}
	d, err := objects.Read(ctx, store, name)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("show incident %s: there is none in %s: snag incidents --from %s lists them", name, store, quoted(f.from))
	}
	if err != nil {
		return err
	}
	dir, done, err := folderFor(keep)
	if err != nil {
		return err
	}
	defer done()
	file, err := objects.Fetch(ctx, store, d, dir)
	if err != nil {
		return err
	}
	if d.Looked {
		fmt.Fprintf(shown.To(os.Stderr), "snag: the closer look at %s; recording.snag has what was recorded all the time\n", name)
	}
	how.transient = keep == ""
	return judgeStranger(ctx, file, how)
}

// folderFor is where files are kept, or a folder that done removes.
func folderFor(keep string) (dir string, done func(), err error) {
	if keep == "" {
		dir, err = private.New(time.Now())
		return dir, func() { _ = os.RemoveAll(dir) }, err // made for this verdict
	}
	to, err := private.Open(keep)
	if err != nil {
		return "", nil, fmt.Errorf("--out: %w", err)
	}
	return keep, func() {}, to.Close()
}
