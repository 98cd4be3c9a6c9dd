// Package slapd draws incidents of OpenLDAP's slapd, whose clients are python-ldap's.
package slapd

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/datadir"
)

const (
	subject = `slapd|:389`
	people  = 20000
)

// Family draws a directory server.
var Family = drawn.Family{
	Name: "slapd", Kind: drawn.Directory, Origin: drawn.Real, Software: []string{"OpenLDAP slapd", "python-ldap"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "prlimit", Package: "util-linux"}, {Command: "slapd", Package: "slapd"}, {Command: pyclient.Python, Package: "python3-ldap"}},
	Faults: []drawn.Fault{
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: subject + `|loop|vd|sd|nvme|/data|slow`, Also: []string{"slow-dependency", "lock-convoy", "worker-queue"}, Account: "disk"},
		{Name: "index-missing", Suspects: []string{"slow-dependency", "cpu-saturated"}, Subject: subject, Also: []string{"run-queue-wait", "worker-queue"}, Account: "work", Whole: true},
		{Name: "heavy-searches", Suspects: []string{"worker-queue", "cpu-saturated", "busy-thread"}, Subject: subject + `|report-job`, Also: []string{"run-queue-wait", "slow-dependency"}, Account: "in line"},
		{Name: "database-full", Suspects: []string{"error-answers"}, Subject: subject, Account: "errors", Whole: true},
		{Name: "file-descriptors", Suspects: []string{"fd-limit", "connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"listen-overflow", "syscall-failing"}, Account: "accept queue"},
		{Name: "stopped", Suspects: []string{"process-stopped"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "stopped"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: subject + `|-directory`, Also: []string{"slow-dependency"}, Account: "quota"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	n := b.Net()
	l := b.LoadOf(300)
	l.Size = b.Int("bytes of a description", 16, 4000)
	writes := b.Uniform("share of writes", 0.1, 0.9)
	switch b.Fault.Name {
	case "cpu-quota": // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, b.Uniform("requests per second, where there is a quota", 60, 150))
		l.Conns = max(l.Conns, 4)
	case "index-missing":
		writes = min(writes, 0.5)
	case "slow-disk": // the disk itself manages some dozens of commits per second
		l.Rate = min(l.Rate, 25/writes)
	}
	if l.Fresh = b.Chance("a connection for each request", 0.2) || b.Fault.Name == "file-descriptors"; l.Fresh {
		l.Rate = min(l.Rate, 100)
	}
	l = l.Within(20*time.Millisecond + n.Trips(l, 1, 3))

	most := 2*l.Conns + b.Int("descriptors to spare", 30, 200)
	server, cpu, disk := serve(b, n, most)
	if b.Built("database-full") { // an import has taken all the room that was left
		done := pyclient.Hold(b, n.Client, "import-job", pyclient.Sessions{Protocol: "directory", To: n.At(389), Do: []string{"import"}})
		b.AwaitPrinted(done, "holds")
		b.Stop(done)
	}
	pyclient.Start(b, n.Client, "login-app", "directory", n.At(389), l, fmt.Sprintf("people=%d", people), fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("size=%d", l.Size),
		fmt.Sprintf("timeout=%.1f", b.LogUniform("clients give up after s", 1, 20)))

	b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of 16 kB per commit", 0.1, 1)*l.Rate*writes*16384))
	jobs := b.Int("clients with heavy searches", 2, 12)
	pyclient.SwitchSessions(b, "heavy-searches", n.Client, "report-job", pyclient.Sessions{Protocol: "directory", To: n.At(389), Conns: jobs,
		Every: b.Duration("heavy searches every", time.Millisecond, 50*time.Millisecond), Do: []string{"search (employeeType=*guest*)"}})
	pyclient.SwitchSessions(b, "file-descriptors", n.Client, "leaky-app", pyclient.Sessions{Protocol: "directory", To: n.At(389), Conns: most})
	b.SwitchStops("stopped", server.PID, 300*time.Millisecond, 5*time.Second)
	b.SwitchQuota("cpu-quota", cpu, max(0.01, b.LogUniform("quota, of 0.5 ms per request", 0.2, 1.2)*l.Rate*0.0005))
	switch b.Fault.Name {
	case "heavy-searches":
		b.Amount("%d clients search all of %d people by what has no index", jobs, people)
	case "file-descriptors":
		b.Amount("%d descriptors, and as many connections of a program that leaves them open", most)
	}
}

// serve starts slapd with its people.
func serve(b *drawn.Bench, n drawn.Net, most int) (server *lab.Process, cpu, disk *lab.Cgroup) {
	dir := filepath.Join(b.Dir(), "ldap")
	cpu, disk = b.Cgroup("directory", 0), b.SlowDisk("slow", 0)
	in := lab.In(cpu)
	if b.Fault.Name == "slow-disk" {
		dir = filepath.Join(b.Volume("data", 192).Mount, "ldap")
		in = lab.In(disk)
	}
	datadir.For(b, dir, "openldap")
	datadir.Copy(b, "slapd-1", dir, func(dir string) { fill(b, dir) })
	room := 1 << 30
	if more := b.Int("bytes that the full database may grow by", 100_000, 5_000_000); b.Built("database-full") {
		room = used(b, dir) + more
		b.Amount("the database may have %d KiB", room>>10)
	}
	index := "uid,mail"
	if b.Built("index-missing") {
		index = "uid"
		b.Amount("%d people are read instead of one", people)
	}
	conf := b.File("slapd.conf", config(dir, index, room, fmt.Sprintf("threads %d", drawn.Pick(b.Draw, "threads", 2, 4, 8, 16))))
	// It binds its port as root, and then becomes the user itself.
	argv := []string{"slapd", "-d", "0", "-u", "openldap", "-g", "openldap", "-h", "ldap://" + n.At(389), "-f", conf}
	if b.Fault.Name == "file-descriptors" {
		argv = datadir.WithFiles(most, argv...)
	}
	server = b.Run(n.Server, "slapd", argv, in)
	b.Await("slapd to listen", 20*time.Second, b.Listens(n.Server, ":389"))
	return server, cpu, disk
}

func config(dir, index string, room int, more string) string {
	return fmt.Sprintf(`include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath /usr/lib/ldap
moduleload back_mdb
%s
database mdb
suffix "dc=example,dc=com"
rootdn "cn=admin,dc=example,dc=com"
rootpw secret
directory %s
maxsize %d
sizelimit unlimited
index objectClass eq
index %s eq
`, more, dir, room, index)
}

// fill puts the people into a new database.
func fill(b *drawn.Bench, dir string) {
	var ldif strings.Builder
	ldif.WriteString("dn: dc=example,dc=com\nobjectClass: dcObject\nobjectClass: organization\no: Example\ndc: example\n\n")
	for _, ou := range []string{"people", "devices"} {
		fmt.Fprintf(&ldif, "dn: ou=%s,dc=example,dc=com\nobjectClass: organizationalUnit\nou: %s\n\n", ou, ou)
	}
	for i := range people {
		fmt.Fprintf(&ldif, "dn: uid=user%d,ou=people,dc=example,dc=com\nobjectClass: inetOrgPerson\nuid: user%d\ncn: User %d\nsn: User\nmail: user%d@example.com\nemployeeType: staff\n\n", i, i, i, i)
	}
	conf := b.File("slapadd.conf", config(dir, "uid,mail", 1<<30, ""))
	datadir.Command(b, "slapadd", "-q", "-f", conf, "-l", b.File("people.ldif", ldif.String()))
	datadir.Command(b, "chown", "-R", "openldap:openldap", dir)
}

// used is how many bytes of its file the database has written: the file itself is as long
// as the database may become.
func used(b *drawn.Bench, dir string) int {
	var st unix.Stat_t
	if err := unix.Stat(filepath.Join(dir, "data.mdb"), &st); err != nil {
		b.Fail("slapd", err)
	}
	return int(st.Blocks) * 512
}
