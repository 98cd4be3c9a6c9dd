// Package dovecot draws incidents of Dovecot's IMAP server, whose clients are imaplib's.
package dovecot

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/backend"
	"snag/lab/real/datadir"
)

var (
	//go:embed dovecot.conf
	config string
	//go:embed lock.py
	lock string
)

const (
	subject = `dovecot|imap|:143`
	policy  = `login-policy|:8002`
)

// Family draws an IMAP server.
var Family = drawn.Family{
	Name: "dovecot", Kind: drawn.Mail, Origin: drawn.Real, Software: []string{"Dovecot"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "dovecot", Package: "dovecot-imapd"}, {Command: pyclient.Python, Package: "python3"}},
	Faults: []drawn.Fault{
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: subject + `|loop|vd|sd|nvme|/mail|slow`, Also: []string{"slow-dependency", "lock-convoy"}, Account: "disk"},
		{Name: "mailbox-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: subject + `|backup-job|inbox`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "connections-of-user", Suspects: []string{"connection-limit", "error-answers"}, Subject: subject + `|leaky-phone`, Also: []string{"peer-reset"}, Account: "errors"},
		{Name: "process-limit", Suspects: []string{"connection-limit", "worker-queue"}, Subject: subject + `|leaky-phone`, Also: []string{"unix-backlog", "slow-dependency"}, Account: "accept queue"},
		{Name: "policy-slow", Suspects: []string{"slow-dependency"}, Subject: policy, Account: "sleep"},
		{Name: "auth-stopped", Suspects: []string{"process-stopped"}, Subject: `auth|` + subject, Also: []string{"slow-dependency"}, Account: "stopped"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(120)
	l.Conns = min(l.Conns, 60) // each has a process of its own
	l.Fresh = b.Chance("a session for each request", 0.2)
	users, mbox := b.Int("users", 1, 20), b.Chance("mbox", 0.3)
	switch b.Fault.Name {
	case "connections-of-user":
		l.Fresh, users = true, 1
	case "process-limit", "policy-slow", "auth-stopped":
		l.Fresh = true
	case "mailbox-lock":
		mbox, users = true, 1
	case "slow-disk":
		mbox = false
	}
	if l.Fresh {
		l.Rate = min(l.Rate, 20)
	}
	l = l.Within(30*time.Millisecond + n.Trips(l, 2, 6))

	s := server{addr: n.Addr, users: users, mbox: mbox, perUser: 1000, processes: 1000}
	leak := 2*l.Conns + b.Int("connections to spare", 5, 60)
	switch b.Fault.Name {
	case "connections-of-user":
		s.perUser = leak
		b.Amount("%d connections of a user, of which a program leaves all open", leak)
	case "process-limit":
		s.processes = leak
		b.Amount("%d processes for sessions, and a program leaves as many sessions open", leak)
	}
	backend.Lookup{
		Name: "policy", Comm: "login-policy", Addr: "127.0.0.1:8002", Down: time.Second,
		Wait: b.Duration("the policy takes", time.Millisecond, 15*time.Millisecond),
		Slow: b.Duration("the slow policy takes", 200*time.Millisecond, 1900*time.Millisecond),
	}.Start(b, n.Server)
	disk := b.SlowDisk("slow", 0)
	s.start(b, n.Server, disk)

	writes := b.Uniform("share of messages that are stored", 0.1, 0.9)
	pyclient.Start(b, n.Client, "mail-app", "imap", n.At(143), l, fmt.Sprintf("users=%d", users), fmt.Sprintf("messages=%d", messages), fmt.Sprintf("writes=%.3f", writes),
		fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 2, 20)))

	for _, fault := range []string{"connections-of-user", "process-limit"} {
		pyclient.SwitchSessions(b, fault, n.Client, "leaky-phone", pyclient.Sessions{Protocol: "imap", To: n.At(143), Conns: leak})
	}
	b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of 16 kB per message", 0.1, 1)*l.Rate*writes*16384))
	var holder *lab.Process
	b.Switch("mailbox-lock", func() {
		holder = b.Run(n.Server, "backup-job", []string{pyclient.Python, b.File("lock.py", lock), filepath.Join(s.mail, "user0", "inbox")})
	}, func() { b.Stop(holder) })
	b.SwitchStops("auth-stopped", s.auth(b), 300*time.Millisecond, 5*time.Second)
}

// messages that each inbox has at first.
const messages = 20

type server struct {
	addr               string
	users              int
	mbox               bool
	perUser, processes int
	mail               string // folder of all mailboxes
	process            *lab.Process
}

func (s *server) start(b *drawn.Bench, ns string, disk *lab.Cgroup) {
	dir := filepath.Join(b.Dir(), "dovecot")
	s.mail = filepath.Join(b.Dir(), "mail")
	var opts []lab.Option
	if b.Fault.Name == "slow-disk" {
		s.mail = filepath.Join(b.Volume("mail", 256).Mount, "mail")
		opts = append(opts, lab.In(disk))
	}
	datadir.For(b, dir, "root")
	_ = os.Chmod(dir, 0o755) //nolint:gosec // a stage's own folder, gone with it
	s.deliver(b)
	location := "maildir:~/mail"
	if s.mbox {
		location = "mbox:~/mail:INBOX=~/inbox"
	}
	more := fmt.Sprintf("auth_policy_server_url = http://127.0.0.1:8002/\nauth_policy_hash_nonce = %d\nauth_policy_check_after_auth = no\nauth_policy_report_after_auth = no\n", b.Seed)
	conf := strings.NewReplacer("DIR", dir, "ADDR", s.addr, "LOCATION", location, "MAIL", s.mail, "PER_USER", fmt.Sprint(s.perUser),
		"PROCESSES", fmt.Sprint(s.processes), "ONCE", fmt.Sprint(drawn.Pick(b.Draw, "a login process serves", 0, 1))).Replace(config)
	s.process = b.Run(ns, "dovecot", []string{"dovecot", "-F", "-c", b.File("dovecot.conf", conf+more)}, opts...)
	b.Await("Dovecot to listen", 20*time.Second, b.Listens(ns, ":143"))
}

// deliver puts the first messages into all inboxes.
func (s *server) deliver(b *drawn.Bench) {
	datadir.For(b, s.mail, "mail")
	text := "From: a@example.com\nSubject: order\n\n" + strings.Repeat("one of these, please\n", 50)
	write := func(user, path, text string) {
		path = filepath.Join(s.mail, user, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			b.Fail("dovecot", err)
		}
	}
	for u := range s.users {
		user := fmt.Sprintf("user%d", u)
		if s.mbox {
			write(user, "inbox", strings.Repeat("From a@example.com Thu Nov 26 10:00:00 2026\n"+text+"\n", messages))
			continue
		}
		for m := range messages {
			write(user, fmt.Sprintf("mail/cur/%d.M%d.host:2,", 1700000000+m, m), text)
		}
	}
	b.Command("", "chown", "-R", "mail:mail", s.mail)
}

// auth is the process that knows who may log in. Dovecot starts it for the first client.
func (s *server) auth(b *drawn.Bench) int {
	pid := 0
	b.Await("Dovecot's auth process", 20*time.Second, func() (bool, error) {
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", s.process.PID))
		for _, t := range tasks {
			raw, _ := os.ReadFile(t)
			for _, child := range strings.Fields(string(raw)) {
				if name, _ := os.ReadFile("/proc/" + child + "/comm"); strings.TrimSpace(string(name)) == "auth" {
					pid, _ = strconv.Atoi(child)
				}
			}
		}
		return pid != 0, nil
	})
	return pid
}
