package main

import (
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/probes/streams/watch"
)

// streamFlags say which streams snag record reads.
type streamFlags struct {
	urls    []string
	list    string
	layers  string
	most    int
	picture bool
	look    time.Duration
}

func (f *streamFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.urls, "stream", nil, "read this live stream all the time, as a viewer would: when it freezes, ends or cannot be read, the recording is judged; name=… and threshold=… after the URL as in snag watch; may be given more than once")
	flags.StringVar(&f.list, "list", "", "read the streams of this file too, one URL a line, as snag watch --list; read again when it changes")
	flags.StringVar(&f.layers, "layers", "", "read one stream at several places: ingest=URL,origin=URL,edge=URL; with {host}, {app} and {stream} in the URLs, each stream of --list")
	flags.IntVar(&f.most, "max-streams", defaultListed, "read at most so many streams; which are left out is reported")
	flags.BoolVar(&f.picture, "picture", false, "have ffmpeg decode a key picture of each stream and a second of its audio now and then, and report which are garbled, black, of one brightness, the same or silent; this costs CPU time (docs/record.md)")
	flags.DurationVar(&f.look, "picture-every", 30*time.Second, "of each stream a picture and a second of audio so often at the most")
}

// given reports whether any stream is asked for.
func (f *streamFlags) given() bool { return len(f.urls) > 0 || f.list != "" || f.layers != "" }

func (f *streamFlags) check() error {
	switch {
	case f.picture && !f.given():
		return cli.Usage("--picture is of streams: give --stream URL, --list FILE or --layers")
	case watch.LayersOfEach(f.layers) && f.list == "":
		return cli.Usage("--layers with {…} is for each stream of --list FILE, which is missing: give it, or write URLs")
	case f.most < 1 || f.most > maxListed:
		return cli.Usage("--max-streams %d: from 1 to %d", f.most, maxListed)
	case f.look < time.Second || f.look > time.Hour:
		return cli.Usage("--picture-every %s: from 1s to 1h", f.look)
	}
	return nil
}
