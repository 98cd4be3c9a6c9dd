// Package vsftpd draws incidents of vsftpd, whose clients are ftplib's.
package vsftpd

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/datadir"
)

const (
	subject = `vsftpd|:21\b`
	// The ports of data connections.
	firstPort, ports = 40000, 1000
)

// Family draws an FTP server.
var Family = drawn.Family{
	Name: "vsftpd", Kind: drawn.Files, Origin: drawn.Real, Software: []string{"vsftpd"},
	Needs: []lab.Tool{lab.IP, lab.NFT, lab.Losetup, lab.Mkfs, {Command: "vsftpd", Package: "vsftpd"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "too-many-sessions", Suspects: []string{"connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"error-answers", "peer-reset"}, Account: "errors"},
		{Name: "sessions-per-address", Suspects: []string{"connection-limit"}, Subject: subject, Also: []string{"error-answers", "peer-reset"}, Account: "errors", Whole: true},
		{Name: "data-ports-blocked", Suspects: []string{"netfilter-drop"}, Subject: `ftp-filter|input|10\.77\.|:4\d\d\d\d|` + subject, Also: []string{"packet-loss", "error-answers"}, Account: "loss"},
		{Name: "full-disk", Suspects: []string{"syscall-failing", "error-answers"}, Subject: subject + `|/data|incoming`, Account: "errors"},
		{Name: "stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"listen-overflow"}, Account: "stopped"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: subject + `|-files`, Account: "quota"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(100)
	l.Size = b.Int("bytes of a file", 16, 200_000)
	l.Conns = min(l.Conns, 60) // each has processes of its own
	switch l.Fresh = b.Chance("a session for each file", 0.3); b.Fault.Name {
	case "too-many-sessions", "stopped":
		l.Fresh = true
	case "sessions-per-address":
		l.Conns, l.Fresh = max(l.Conns, 8), false
	case "cpu-quota": // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, 30)
	}
	if l.Fresh {
		l.Rate = min(l.Rate, 25)
	}
	l = l.Within(10*time.Millisecond + n.Trips(l, 6, 14))
	most := 2*l.Conns + b.Int("sessions to spare", 10, 60)
	cpu := b.Cgroup("files", 0)
	perAddress := 0
	if share := b.Uniform("sessions allowed, of the clients'", 0.3, 0.95); b.Built("sessions-per-address") {
		perAddress = max(1, int(share*float64(l.Conns)))
		b.Amount("%d sessions of each address, for %d clients of one", perAddress, l.Conns)
	}
	server, files := serve(b, n, cpu, most, perAddress, l.Size)
	b.Nft(n.Server, "table inet ftp-filter {\n chain input {\n type filter hook input priority 0; policy accept;\n}\n}\n")
	writes := b.Uniform("share of uploads", 0.1, 0.9)
	pyclient.Start(b, n.Client, "sync-app", "ftp", n.At(21), l, fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 2, 20)))

	pyclient.SwitchSessions(b, "too-many-sessions", n.Client, "leaky-app", pyclient.Sessions{Protocol: "ftp", To: n.At(21), Conns: most})
	blocked := int(ports * b.LogUniform("share of the data ports that is blocked", 0.05, 1))
	b.Switch("data-ports-blocked", func() {
		b.Nft(n.Server, fmt.Sprintf("add rule inet ftp-filter input tcp dport %d-%d counter drop\n", firstPort+ports-blocked, firstPort+ports-1))
	}, func() { b.Nft(n.Server, "flush chain inet ftp-filter input\n") })
	old := filepath.Join(files, "incoming", "old-backup")
	b.Switch("full-disk", func() {
		if err := datadir.Fill(old); err != nil {
			b.Fail("full-disk", err)
		}
	}, func() { os.Remove(old) })
	b.SwitchStops("stopped", server.PID, 300*time.Millisecond, 5*time.Second)
	b.SwitchQuota("cpu-quota", cpu, max(0.01, b.LogUniform("quota, of 2 ms per file", 0.2, 1.2)*l.Rate*0.002))
	switch b.Fault.Name {
	case "too-many-sessions":
		b.Amount("%d sessions are allowed, and a program leaves as many open", most)
	case "data-ports-blocked":
		b.Amount("%d of %d data ports are blocked", blocked, ports)
	case "full-disk":
		b.Amount("no room on the disk of the files")
	}
}

// serve starts vsftpd, and returns the folder of its files.
func serve(b *drawn.Bench, n drawn.Net, cpu *lab.Cgroup, most, perAddress, size int) (*lab.Process, string) {
	files := filepath.Join(b.Dir(), "data")
	if b.Fault.Name == "full-disk" {
		files = b.Volume("data", 96).Mount
	}
	datadir.For(b, filepath.Join(files, "incoming"), "ftp")
	empty := filepath.Join(b.Dir(), "empty")
	for _, dir := range []string{files, empty} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			b.Fail("vsftpd", err)
		}
		_ = os.Chmod(dir, 0o755) //nolint:gosec // a stage's own folder, gone with it
	}
	if err := os.WriteFile(filepath.Join(files, "file"), make([]byte, size), 0o644); err != nil { //nolint:gosec // others read it
		b.Fail("vsftpd", err)
	}
	conf := b.File("vsftpd.conf", fmt.Sprintf(`listen=YES
listen_ipv6=NO
listen_address=%s
background=NO
anonymous_enable=YES
no_anon_password=YES
local_enable=NO
write_enable=YES
anon_upload_enable=YES
anon_other_write_enable=YES
anon_world_readable_only=NO
anon_root=%s
secure_chroot_dir=%s
seccomp_sandbox=NO
isolate=NO
isolate_network=NO
xferlog_enable=NO
max_clients=%d
max_per_ip=%d
pasv_min_port=%d
pasv_max_port=%d
one_process_model=%s
`, n.Addr, files, empty, most, perAddress, firstPort, firstPort+ports-1, drawn.Pick(b.Draw, "one process per session", "YES", "NO")))
	server := b.Run(n.Server, "vsftpd", []string{"vsftpd", conf}, lab.In(cpu))
	b.Await("vsftpd to listen", 20*time.Second, b.Listens(n.Server, ":21"))
	return server, files
}
