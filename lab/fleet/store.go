package fleet

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
)

// Store is two Thanos receivers, each of which gets every sample, behind a balancer that passes a request on to the
// other where one does not answer; a querier over both and over a gateway to a bucket on a file system;
// and a Prometheus that scrapes these and sends to them as well.
type Store struct {
	Receivers []*lab.Process
	Query     string // URL of the querier
	write     string // URL that recorders send to
}

// Ports of the store.
const (
	queryPort = 10900
	writePort = 19000
)

// store starts it, in a namespace that is no host of the fleet.
func (f *Fleet) store() {
	f.Store = &Store{Query: fmt.Sprintf("http://%s:%d", monitor, queryPort), write: fmt.Sprintf("http://%s:%d/api/v1/receive", monitor, writePort)}
	at := func(port int) string { return fmt.Sprintf("%s:%d", monitor, port) }
	bucket := f.File("bucket.yml", "type: FILESYSTEM\nconfig:\n  directory: "+filepath.Join(f.Dir(), "bucket")+"\n")
	ring := f.File("hashring.json", fmt.Sprintf(`[{"hashring":"all","endpoints":[%q,%q]}]`, at(10911), at(10921)))
	for n := range 2 {
		base := 10911 + 10*n
		f.Store.Receivers = append(f.Store.Receivers, f.thanosRun(fmt.Sprintf("receiver-%d", n+1), "receive", "--grpc-address", at(base), "--http-address", at(base+1),
			"--remote-write.address", at(base+2), "--tsdb.path", filepath.Join(f.Dir(), fmt.Sprintf("receiver-%d", n+1)), "--label", fmt.Sprintf(`receive_replica="%d"`, n+1),
			"--receive.hashrings-file", ring, "--receive.local-endpoint", at(base), "--receive.capnproto-address", at(base+3), "--receive.replication-factor", "2", "--objstore.config-file", bucket))
	}
	f.thanosRun("store", "store", "--grpc-address", at(10931), "--http-address", at(10932), "--data-dir", filepath.Join(f.Dir(), "store"), "--objstore.config-file", bucket)
	f.thanosRun("querier", "query", "--grpc-address", at(10941), "--http-address", at(queryPort), "--query.replica-label", "receive_replica",
		"--endpoint", at(10911), "--endpoint", at(10921), "--endpoint", at(10931))
	f.run("monitor", "haproxy-store", []string{"haproxy", "-db", "-f", f.File("store.cfg", fmt.Sprintf(`global
	maxconn 200
defaults
	mode http
	timeout connect 2s
	timeout client 30s
	timeout server 10s
	retries 3
	option redispatch 1
	retry-on all-retryable-errors
frontend write
	bind %s
	default_backend receivers
backend receivers
	balance roundrobin
	option httpchk GET /-/ready
	server receiver-1 %s check port 10912 inter 1s
	server receiver-2 %s check port 10922 inter 1s
`, at(writePort), at(10913), at(10923)))})
	f.run("monitor", "prometheus", []string{"prometheus", "--config.file", f.File("prometheus.yml", fmt.Sprintf(`global: {scrape_interval: 15s, external_labels: {job: prometheus}}
scrape_configs:
- job_name: store
  static_configs: [{targets: [%q, %q, %q, %q]}]
remote_write: [{url: %q}]
`, at(10912), at(10922), at(10932), at(queryPort), f.Store.write)), "--storage.tsdb.path", filepath.Join(f.Dir(), "prometheus"), "--web.listen-address", at(9090)})
	for _, port := range []int{10913, 10923, 10931, queryPort, writePort, 9090} {
		f.awaitListening("monitor", fmt.Sprint(port))
	}
	f.Await("the receivers to be ready", 40*time.Second, func() (bool, error) {
		for _, port := range []int{10912, 10922, queryPort} {
			if _, err := f.get(fmt.Sprintf("http://%s/-/ready", at(port))); err != nil {
				return false, err
			}
		}
		return true, nil
	})
}

func (f *Fleet) thanosRun(name, command string, args ...string) *lab.Process {
	p := f.Run(f.Name("monitor"), name, append([]string{"nice", "-n", "10", f.thanos, command, "--log.level", "warn"}, args...), lab.Env("GOMAXPROCS=1"))
	f.procs[name] = p
	return p
}
