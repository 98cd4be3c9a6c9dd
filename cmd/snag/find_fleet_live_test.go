package main

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"snag/internal/built"
	"snag/lab"
)

// twoHosts are network namespaces: nginx on edge asks a service on db, both are recorded and serve their recordings,
// and a store has what the recorders send.
type twoHosts struct {
	*lab.Stage
	t         *testing.T
	snag, dir string
	ca        *authority
	service   *lab.Process
}

const (
	fleetEdge, fleetDB, promStore = "10.97.0.11", "10.97.0.12", "10.97.0.15"
	fleetURL                      = "http://" + promStore + ":9090"
)

func newTwoHosts(t *testing.T) *twoHosts {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("not root: no network namespaces, no BPF programs")
	}
	for _, tool := range []string{"prometheus", "promtool", "nginx", "curl", "ip", "nft"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("no %s: make setup installs it", tool)
		}
	}
	f := &twoHosts{t: t, dir: t.TempDir(), ca: newAuthority(t)}
	f.snag = filepath.Join(f.dir, "snag")
	built.Program(t, "snag", f.snag)
	self := filepath.Join(f.dir, "snag-lab")
	built.Program(t, "snag-lab", self)
	var err error
	if f.Stage, err = lab.NewStage(t.Context(), lab.Options{Self: self, Shared: true, Suffix: "fl", Log: t.Logf}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	var ends []lab.End
	for name, at := range map[string]string{"edge": fleetEdge, "db": fleetDB, "store": promStore, "players": "10.97.0.21"} {
		ends = append(ends, lab.End{Netns: f.Netns(name), Device: "eth0", Addr: at + "/24"})
	}
	f.Bridge(f.Netns("switch"), ends...)
	return f
}

// start runs the store, the service and its caller, and both hosts' recorders and pages.
func (f *twoHosts) start() {
	f.Run(f.Name("store"), "prometheus", []string{"prometheus", "--config.file=" + f.File("prometheus.yml", "global: {scrape_interval: 15s}\n"), "--storage.tsdb.path=" + filepath.Join(f.dir, "tsdb"),
		"--web.listen-address=" + promStore + ":9090", "--web.enable-remote-write-receiver"})
	f.service = f.Actor(f.Name("db"), "pricer", "http-upstream", []string{"--listen", fleetDB + ":8080", "--wait", "5ms"})
	f.AwaitPrinted(f.service, "ready")
	f.nginx()
	f.secret("token", "A2345678901234567890\n")
	for name, at := range map[string]string{"edge": fleetEdge, "db": fleetDB} {
		f.ca.sign(name, &x509.Certificate{IPAddresses: []net.IP{net.ParseIP(at)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
		ring := filepath.Join(f.dir, "ring-"+name)
		f.Run("", "record-"+name, []string{"ip", "netns", "exec", f.Name(name), f.snag, "record", "--own-netns", "--ring", ring, "--size", "64MB",
			"--remote-write", fleetURL + "/api/v1/write", "--remote-write-label", "instance=" + name})
		f.Run(f.Name(name), "serve-"+name, []string{f.snag, "serve", "--listen", at + ":9849", "--ring", ring, "--token-file", filepath.Join(f.dir, "token"),
			"--client-ca", f.ca.path("ca.crt"), "--tls-cert", f.ca.path(name + ".crt"), "--tls-key", f.ca.path(name + ".key")})
	}
}

// nginx passes requests of players, who are on no host of the fleet, on to the service.
func (f *twoHosts) nginx() {
	dir := filepath.Join(f.dir, "nginx")
	if err := os.Mkdir(dir, 0o700); err != nil {
		f.t.Fatal(err)
	}
	conf := f.File("nginx.conf", strings.NewReplacer("DIR", dir, "AT", fleetDB+":8080").Replace(`worker_processes 1; daemon off; user root; pid DIR/pid; error_log DIR/error.log;
events { worker_connections 512; }
http {
	access_log off; client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
	upstream pricer { server AT max_fails=0; keepalive 8; }
	server { listen 80; location / { proxy_pass http://pricer; proxy_http_version 1.1; proxy_set_header Connection ""; } }
}
`))
	f.Run(f.Name("edge"), "nginx", []string{"nginx", "-p", dir, "-c", conf, "-e", filepath.Join(dir, "error.log")})
	f.Await("nginx to answer", 10*time.Second, func() (bool, error) {
		_, err := f.Output(f.Name("players"), "curl", "-sS", "--fail", "--max-time", "2", "http://"+fleetEdge+"/")
		return err == nil, err
	})
	f.Actor(f.Name("players"), "player", "http-client", []string{"--any", "--url", "http://" + fleetEdge + "/", "--conns", "8", "--every", "200ms"})
}

// secret writes a file that only its owner can read.
func (f *twoHosts) secret(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// find asks the store, from its own namespace, and has the recordings fetched.
func (f *twoHosts) find(args ...string) (out string, code int) {
	f.t.Helper()
	may := []string{"--recordings-token-file", filepath.Join(f.dir, "token")}
	if slices.Contains(args, "--recordings-cert") {
		may = nil
	}
	argv := slices.Concat([]string{"netns", "exec", f.Name("store"), f.snag, "find", "--fleet", fleetURL, "--recordings-ca", f.ca.path("ca.crt")}, may, args)
	cmd := exec.Command("ip", argv...)
	cmd.Env = append(os.Environ(), "TMPDIR="+f.t.TempDir())
	b, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		f.t.Fatal(err)
	}
	left, err := os.ReadDir(strings.TrimPrefix(cmd.Env[len(cmd.Env)-1], "TMPDIR="))
	if err != nil || len(left) > 0 {
		f.t.Errorf("%v is left behind (%v)", left, err)
	}
	return string(b), cmd.ProcessState.ExitCode()
}

// known reports whether the store has an expression's series.
func (f *twoHosts) known(expression string, least float64) func() (bool, error) {
	return func() (bool, error) {
		text, err := f.Output(f.Name("store"), "promtool", "query", "instant", fleetURL, expression)
		if err != nil {
			return false, nil //nolint:nilerr // it is not up yet
		}
		var n float64
		_, err = fmt.Sscanf(text, "{} => %g", &n)
		return err == nil && n >= least, nil
	}
}

// A service on one host is stopped again and again, and nginx on the other waits for it. The recordings of both are
// fetched over TLS and judged together: the cause is the process on the other host, the caller is its consequence, and
// what is kept says the same again. Whoever gives no recording is named with a reason, and keeps nobody else from being
// judged.
func TestFleetRecordings(t *testing.T) {
	t.Parallel()
	f := newTwoHosts(t)
	f.start()
	f.Await("the store to know both recorders", 30*time.Second, f.known("count(snag_record_up)", 2))
	f.Pause(33 * time.Second) // a recorder has to see nginx's answers for 30 s before it knows what is usual
	f.Actor("", "freezer", "stopper", []string{"--pid", fmt.Sprint(f.service.PID), "--stop", "700ms", "--run", "300ms"}, lab.MayEnd())
	f.Await("both hosts to be affected", 60*time.Second, f.known("count(count by (instance) (snag_incident_symptom))", 2))
	if err := f.Err(); err != nil {
		text, code := f.find("--recordings", "https://{address}:9849")
		t.Fatalf("%v; exit code %d: %s", err, code, text)
	}
	kept := filepath.Join(f.dir, "kept")
	text, code := f.find("--recordings", "https://{address}:9849", "--out", kept)
	t.Log(text)
	_, joined, _ := strings.Cut(text, "THE RECORDINGS of 2 hosts, judged together")
	culprit := fmt.Sprintf("pricer[%d] on db\n", f.service.PID)
	if code != 10 || !strings.HasPrefix(text, fleetURL) || !strings.Contains(text, "CULPRIT on db  process-stopped") {
		t.Errorf("the store's answer, exit code %d", code)
	}
	if !strings.Contains(joined, "CULPRIT  A process is stopped") || strings.Contains(joined, "CULPRIT  A dependency is slow") {
		t.Error("the culprit is at the other host, and the caller is its consequence")
	}
	for _, want := range []string{culprit, "slow-dependency", "nginx", "on edge", "clocks        compared with db's: edge within", "recording     " + kept} {
		if !strings.Contains(joined, want) {
			t.Errorf("no %q in the answer of the recordings", want)
		}
	}
	if strings.Contains(text, "not seen   edge") || strings.Contains(text, "not seen   db") {
		t.Error("both gave their recording")
	}
	for _, again := range [][]string{{"judge", kept}, {"read", "--quiet", "--out", kept + "-again", kept}} {
		b, err := exec.Command(f.snag, again...).Output()
		if !strings.Contains(string(b), culprit) {
			t.Errorf("%v: %v\n%s", again, err, b)
		}
	}
	f.certificates()
	f.without()
}

// certificates are as good as the token, if they are of the authority that the hosts know.
func (f *twoHosts) certificates() {
	f.t.Helper()
	usage := []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	strangers := newAuthority(f.t)
	f.ca.sign("reader", &x509.Certificate{ExtKeyUsage: usage})
	strangers.sign("reader", &x509.Certificate{ExtKeyUsage: usage})
	text, code := f.find("--recordings", "https://{address}:9849", "--recordings-cert", f.ca.path("reader.crt"), "--recordings-key", f.ca.path("reader.key"))
	if code != 10 || !strings.Contains(text, "THE RECORDINGS of 2 hosts, judged together") {
		f.t.Errorf("a certificate instead of the token, exit code %d: %s", code, text)
	}
	text, code = f.find("--recordings", "https://{address}:9849", "--recordings-cert", strangers.path("reader.crt"), "--recordings-key", strangers.path("reader.key"))
	if code != 10 || !strings.Contains(text, "NO RECORDINGS were judged") || !strings.Contains(text, "not seen   db: no recording: https://"+fleetDB+":9849: ") {
		f.t.Errorf("a certificate of another authority, exit code %d: %s", code, text)
	}
}

// without has one host give no recording, and then none.
func (f *twoHosts) without() {
	f.t.Helper()
	alone := "THE RECORDING of db\n"
	f.Nft(f.Name("edge"), "table inet off { chain in { type filter hook input priority 0; tcp dport 9849 drop; }; }")
	began := time.Now()
	text, code := f.find("--recordings", "https://{address}:9849")
	if code != 10 || !strings.Contains(text, alone) || !strings.Contains(text, "not seen   edge: no recording: https://"+fleetEdge+":9849: no answer in time") {
		f.t.Errorf("a host that is not reached, exit code %d: %s", code, text)
	}
	if d := time.Since(began); d > 20*time.Second {
		f.t.Errorf("it took %s", d)
	}
	f.secret("wrong", "B2345678901234567890\n")
	text, code = f.find("--recordings", "https://{address}:9849", "--recordings-token-file", filepath.Join(f.dir, "wrong"))
	if code != 10 || !strings.Contains(text, "NO RECORDINGS were judged") || !strings.Contains(text, "not seen   db: no recording: https://"+fleetDB+":9849: 401 Unauthorized: not that host's token") {
		f.t.Errorf("a wrong token, exit code %d: %s", code, text)
	}
	var d struct {
		Recordings struct {
			Hosts, Failed []string
			Verdict       struct{ Standing string }
		}
	}
	text, code = f.find("--json", "--recordings", filepath.Join(f.dir, "ring-{host}"))
	if err := json.Unmarshal([]byte(text), &d); err != nil || code != 10 || len(d.Recordings.Hosts) != 2 || len(d.Recordings.Failed) != 0 || d.Recordings.Verdict.Standing != "culprit" {
		f.t.Errorf("folders, exit code %d, %v: %.2000s", code, err, text)
	}
}
