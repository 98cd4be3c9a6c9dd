package main

import (
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"snag/internal/cli"
	"snag/probes/streams"
	"snag/probes/streams/watch"
)

type watchFlags struct {
	urls         []string
	layers       string
	list         string
	discover     []string
	credentials  string
	group        string
	metricLabels []string
	window       time.Duration
	out          string
	frames       string
	listen       string
	page         string
	onFreeze     string
	onTimeout    time.Duration
	webhook      string
	secret       string
	form         string
	json         bool
	plain        bool
	most         int
	perSecond    int
	threshold    time.Duration
	timeout      time.Duration
	every        time.Duration
	picture      bool
	look         time.Duration
	host         bool
	passive      bool
	iface        string
	ports        []uint
	netns        string
	read         string
}

func watchCommand() *cobra.Command {
	var f watchFlags
	cmd := &cobra.Command{
		Use:   "watch URL…",
		Short: "Watch live streams as a viewer would, and say who freezes",
		Long: `Watch live streams until stopped: rtmp rtmps rtsp rtp, MPEG-TS over UDP, HLS,
GB28181 (PS, and cameras over SIP); all else through ffprobe. Nothing is decoded and no
payload is kept, except with --picture: a key picture and a second of audio now and
then, until they are judged.
name=…, threshold=… and label.KEY=… may follow a URL in the same argument.

In a terminal it shows a table, the faulty first. Elsewhere it writes a line for
each event and a summary every 10 s; with --json an object a line (docs/watch.md).

Exit codes: 0 ended by --for, q or Ctrl-C and every stream was healthy, 10 per stream
froze, went down, lost its audio, had its frame rate or bit rate fall, or could
not be read, 1 failed, 2 usage.`,
		Example: `  snag watch rtmp://origin/live/cam1 rtsp://10.0.0.7:8554/door
  snag watch --list cams.txt --listen :9847 --page :8099
  snag watch 'rtmp://origin/live/cam1 name=door threshold=3s' rtmp://origin/live/cam2
  snag watch --discover nginx:http://origin:8080/stat --for 10m --out incident
  snag watch --discover wowza:http://origin:8087 --discover-credentials servers --group app
  snag watch --discover gb28181://10.0.0.5/34020000002000000001 --discover-credentials servers
  sudo snag watch --list cams.txt --host --webhook https://ops.example/hook
  snag watch --passive --port 1935
  snag watch --read incident.pcap
  snag watch --list cams.txt --on-freeze 'systemctl restart transcoder@cam1'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			f.urls = args
			return watchStreams(cmd, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.list, "list", "", "watch the URLs of this file, one a line, name=… threshold=… label.KEY=… after it; read again when it changes")
	flags.StringVar(&f.layers, "layers", "", "watch one stream at several places: ingest=URL,origin=URL,edge=URL; with {host}, {app} and {stream} in the URLs, each of --list and --discover")
	flags.StringArrayVar(&f.discover, "discover", nil, discoverUsage("ask a server each 10 s"))
	flags.StringVar(&f.credentials, "discover-credentials", "", credentialsUsage)
	flags.StringVar(&f.group, "group", "", "group the table and the summaries by this label of the streams, as app")
	flags.StringSliceVar(&f.metricLabels, "metric-label", nil, "metrics have this label of the streams too, as label_KEY; --group's key is one; may be given more than once")
	flags.DurationVar(&f.window, "for", 0, "end after so long (default: when stopped)")
	flags.StringVarP(&f.out, "out", "o", "", "keep a recording in this folder")
	flags.StringVar(&f.frames, "frames", "", "write a line of JSON for each frame to this file")
	flags.StringVar(&f.listen, "listen", "", "serve Prometheus metrics at this address, as :9847")
	flags.StringVar(&f.page, "page", "", "serve a page of all streams with what happened to them, at this address: :8099 for this host alone, else ADDRESS:8099 (docs/page.md)")
	flags.StringVar(&f.onFreeze, "on-freeze", "", "run this command, without a shell, when a stream freezes or is down; limits: docs/watch.md")
	flags.DurationVar(&f.onTimeout, "on-freeze-timeout", 30*time.Second, "kill that command after so long")
	flags.StringVar(&f.webhook, "webhook", "", "post JSON to this URL when a stream freezes or is down, and when it is healthy again")
	flags.StringVar(&f.secret, "webhook-secret", "", "sign what is posted with the secret in this file (HMAC-SHA256); how to verify it: docs/watch.md")
	flags.StringVar(&f.form, "webhook-form", "snag", "what is posted: snag, alertmanager (POST /api/v2/alerts) or slack (an incoming webhook)")
	flags.BoolVar(&f.json, "json", false, "an object of JSON a line on standard output (docs/watch.md)")
	flags.BoolVar(&f.plain, "plain", false, "plain lines in a terminal too")
	flags.IntVar(&f.most, "max-streams", watch.DefaultMost, "watch at most so many streams")
	flags.IntVar(&f.perSecond, "connects", watch.DefaultPerSecond, "begin at most so many connections per second")
	flags.DurationVar(&f.threshold, "threshold", 0, "no frame for so long is a freeze (default: the larger of 1s and three frames' spacing)")
	flags.DurationVar(&f.timeout, "timeout", 5*time.Second, "give up on a server that has not let in by then")
	flags.DurationVar(&f.every, "read-every", streams.ReadEvery, "read each connection at most so often: rarer costs less, and frames are timed no finer; 0: as data come")
	flags.BoolVar(&f.picture, "picture", false, "have ffmpeg decode a key picture of each stream and a second of its audio now and then, and say which are garbled, black, of one brightness, the same or silent; what it costs: docs/watch.md")
	flags.DurationVar(&f.look, "picture-every", 10*time.Second, "of each stream a picture and a second of audio so often at the most")
	flags.BoolVar(&f.host, "host", false, "record this host too, as snag find does, a minute at a time: when a stream stops, the minute is judged, and who stopped it goes to the table, the command and the webhook (root)")
	flags.StringVar(&f.netns, "netns", "", "read, ask and capture inside this network namespace, by name or inode")
	f.passiveFlags(cmd)
	return cmd
}

// maxFor bounds --for, so that a typing error is not a watch of a century.
const maxFor = 90 * 24 * time.Hour

func (f *watchFlags) check(cmd *cobra.Command) error {
	changed := cmd.Flags().Changed
	if f.isPassive() {
		if err := f.checkPassive(cmd); err != nil {
			return err
		}
	}
	switch {
	case changed("netns") && f.netns == "":
		return cli.Usage("--netns: the name is empty")
	case !f.isPassive() && len(f.urls) == 0 && f.list == "" && f.layers == "" && len(f.discover) == 0:
		return cli.Usage("what is to be watched? give a URL, --list FILE or --discover KIND:URL (snag watch --help)")
	case changed("discover-credentials") && len(f.discover) == 0:
		return cli.Usage("--discover-credentials says how to log in, and --discover KIND:URL, which says where, is missing")
	case watch.LayersOfEach(f.layers) && f.list == "" && len(f.discover) == 0:
		return cli.Usage("--layers with {…} is for each stream of --list or --discover: give one of them, or write URLs")
	case changed("for") && (f.window < time.Second || f.window > maxFor):
		return cli.Usage("--for %s: from 1s to %s", f.window, maxFor)
	case f.most < 1 || f.most > 20000:
		return cli.Usage("--max-streams %d: from 1 to 20000", f.most)
	case f.perSecond < 1 || f.perSecond > 1000:
		return cli.Usage("--connects %d: from 1 to 1000 per second", f.perSecond)
	case changed("threshold") && (f.threshold < 300*time.Millisecond || f.threshold > 10*time.Minute):
		return cli.Usage("--threshold %s: from 300ms to 10m", f.threshold)
	case f.timeout < 100*time.Millisecond || f.timeout > 5*time.Minute:
		return cli.Usage("--timeout %s: from 100ms to 5m", f.timeout)
	case f.every < 0 || f.every > time.Second:
		return cli.Usage("--read-every %s: from 0s to 1s", f.every)
	case f.onTimeout < time.Second || f.onTimeout > time.Hour:
		return cli.Usage("--on-freeze-timeout %s: from 1s to 1h", f.onTimeout)
	case f.look < time.Second || f.look > time.Hour:
		return cli.Usage("--picture-every %s: from 1s to 1h", f.look)
	case changed("picture-every") && !f.picture:
		return cli.Usage("--picture-every says how often: --picture says that pictures are looked at, and is missing")
	case f.picture && (f.read != "" || f.isPassive()) && len(f.urls) == 0 && f.list == "" && f.layers == "" && len(f.discover) == 0:
		return cli.Usage("--picture: of a capture only headers are kept; give the streams' URLs, which snag reads itself")
	case changed("page") && f.page == "":
		return cli.Usage("--page: the address is empty: write :8099")
	case f.host && f.read != "":
		return cli.Usage("--host: the file's time is over; snag find records this host now")
	case f.webhook == "" && (changed("webhook-secret") || changed("webhook-form")):
		return cli.Usage("--webhook-secret and --webhook-form say how to post: --webhook URL says where, and is missing")
	case changed("webhook-secret") && f.secret == "":
		return cli.Usage("--webhook-secret: the file's name is empty")
	case watch.Forms[f.form] == nil:
		return cli.Usage("--webhook-form %s: there are snag, alertmanager and slack", f.form)
	case changed("on-freeze") && strings.TrimSpace(f.onFreeze) == "":
		return cli.Usage("--on-freeze: the command is empty")
	}
	return nil
}

// labels are the keys of the labels that metrics have.
func (f *watchFlags) labels() (watch.MetricLabels, error) {
	keys := f.metricLabels
	if f.group != "" {
		if err := watch.CheckLabelKey(f.group); err != nil {
			return nil, cli.Usage("--group: %v", err)
		}
		keys = append([]string{f.group}, keys...)
	}
	labels, err := watch.ParseMetricLabels(keys)
	if err != nil {
		return nil, cli.Usage("--metric-label: %v", err)
	}
	return labels, nil
}

// asked are the streams of the command line, and --layers' places: each must be one that can be read.
func (f *watchFlags) asked() (entries, places []watch.Entry, err error) {
	for _, raw := range f.urls {
		e, err := watch.ParseArgument(raw, "the command line")
		if err != nil {
			return nil, nil, cli.Usage("%v", err)
		}
		if _, err := streams.Open(e.URL); err != nil {
			return nil, nil, cli.Usage("%s: %v", watch.ShownURL(e.URL), err)
		}
		entries = append(entries, e)
	}
	if watch.LayersOfEach(f.layers) {
		return entries, nil, nil
	}
	if _, places, err = streams.Entries(nil, f.layers); err != nil {
		return nil, nil, cli.Usage("%v", err)
	}
	return entries, places, nil
}

func watchStreams(cmd *cobra.Command, f watchFlags) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	s, err := newWatching(f)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // the next Ctrl-C ends snag at once
	}()
	if err := errors.Join(s.run(ctx), s.close()); err != nil {
		return err
	}
	if s.watcher.Sick() {
		return &cli.Exit{Code: cli.ExitCulprit}
	}
	return nil
}
