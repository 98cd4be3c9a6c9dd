// Package mariadb draws incidents of MariaDB, whose clients are PyMySQL's.
package mariadb

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
)

// Family draws a MariaDB server.
var Family = drawn.Family{
	Name: "mariadb", Kind: drawn.Database, Origin: drawn.Real, Software: []string{"MariaDB", "PyMySQL"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, {Command: "mariadbd", Package: "mariadb-server"}, {Command: pyclient.Python, Package: "python3-pymysql"}},
	Faults: []drawn.Fault{
		{Name: "row-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `mariadb|:3306|accounts|report-job`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "read-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `mariadb|:3306|accounts|backup-job`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "metadata-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `mariadb|:3306|accounts|report-job|migration`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "too-many-connections", Suspects: []string{"connection-limit"}, Subject: `mariadb|:3306|leaky-app`, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "index-ignored", Suspects: []string{"slow-dependency", "cpu-saturated"}, Subject: `mariadb|:3306`, Also: []string{"run-queue-wait"}, Account: "work"},
		{Name: "slow-function", Suspects: []string{"slow-dependency"}, Subject: `mariadb|:3306`, Account: "sleep"},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: `loop|vd|sd|nvme|mariadb|/data|slow`, Also: []string{"slow-dependency", "lock-convoy"}, Account: "disk"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: `mariadb|-db`, Also: []string{"slow-dependency"}, Account: "quota"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	dir := filepath.Join(b.Dir(), "maria")
	cpu, disk := b.Cgroup("db", 0), b.SlowDisk("slow", 0)
	in := lab.In(cpu)
	if b.Fault.Name == "slow-disk" {
		dir = filepath.Join(b.Volume("data", 384).Mount, "maria")
		in = lab.In(disk)
	}
	most := b.Int("max_connections", 150, 300)
	s := start(b, net.Server, dir, net.Addr, []string{fmt.Sprintf("--max-connections=%d", most)}, in)

	table := drawn.Pick(b.Draw, "table", "accounts_small", "accounts", "accounts_large")
	writes := b.Uniform("share of writes", 0.2, 0.9)
	hot := b.Uniform("share of updates of one row", 0.1, 0.9)
	giveUp := b.Int("innodb_lock_wait_timeout", 3, 50)
	l := b.LoadOf(400)
	l.Size = b.Int("bytes of an entry", 16, 4000)
	if b.Fault.Name == "cpu-quota" { // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, b.Uniform("requests per second, where there is a quota", 60, 200))
		l.Conns = max(l.Conns, 4)
	}
	if l.Fresh = b.Chance("a connection for each request", 0.2) || b.Fault.Name == "too-many-connections"; l.Fresh {
		l.Rate = min(l.Rate, 80)
		l.Conns = min(l.Conns, 80)
	}
	pyclient.Start(b, net.Client, "shop-app", "mysql", net.At(3306), l, "table="+table, fmt.Sprintf("rows=%d", tables[table]),
		fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("hot=%.3f", hot), fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("give-up=%d", giveUp))

	session := func(name string, statements ...string) pyclient.Sessions {
		return pyclient.Sessions{Protocol: "mysql", To: net.At(3306), Do: statements}
	}
	pyclient.SwitchSessions(b, "row-lock", net.Client, "report-job", session("report-job", "BEGIN", "UPDATE "+table+" SET note = 'checked' WHERE id = 1"))
	pyclient.SwitchSessions(b, "read-lock", net.Client, "backup-job", session("backup-job", "FLUSH TABLES WITH READ LOCK"))
	var held []*lab.Process
	b.Switch("metadata-lock", func() {
		held = []*lab.Process{
			pyclient.Hold(b, net.Client, "report-job", session("report-job", "BEGIN", "SELECT COUNT(*) FROM "+table)),
			pyclient.Hold(b, net.Client, "migration", session("migration", "SELECT SLEEP(0.3)", "ALTER TABLE "+table+" ADD COLUMN IF NOT EXISTS seen DATE")),
		}
	}, func() {
		for _, p := range held {
			b.Stop(p)
		}
	})
	hoard := session("leaky-app")
	hoard.Conns = most
	pyclient.SwitchSessions(b, "too-many-connections", net.Client, "leaky-app", hoard)
	b.Switch("index-ignored", func() { go s.do("ALTER TABLE shop." + table + " ALTER INDEX " + table + "_email IGNORED") },
		func() { go s.do("ALTER TABLE shop." + table + " ALTER INDEX " + table + "_email NOT IGNORED") })
	slow := b.Duration("slow function takes", 5*time.Millisecond, 400*time.Millisecond)
	b.Switch("slow-function", func() {
		s.do(fmt.Sprintf("CREATE OR REPLACE FUNCTION shop.note_of(id INT) RETURNS VARCHAR(60) NOT DETERMINISTIC RETURN IF(SLEEP(%g), 'late', 'none')", slow.Seconds()))
	}, func() { s.do(noteOf) })
	b.SwitchQuota("cpu-quota", cpu, max(0.01, b.LogUniform("quota, of 0.5 ms per request", 0.2, 1.2)*l.Rate*0.0005))
	b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of 4 kB per commit", 0.1, 1)*l.Rate*writes*4096))
	switch b.Fault.Name {
	case "slow-function":
		b.Amount("a function of %v in each query", slow)
	case "index-ignored":
		b.Amount("%d rows are read instead of one", tables[table])
	}
}
