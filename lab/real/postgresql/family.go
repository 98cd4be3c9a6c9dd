// Package postgresql draws incidents of PostgreSQL, whose clients are psycopg2's.
package postgresql

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

// Family draws a PostgreSQL server.
var Family = drawn.Family{
	Name: "postgresql", Kind: drawn.Database, Origin: drawn.Real, Software: []string{"PostgreSQL", "psycopg2"},
	Needs: []lab.Tool{lab.IP, lab.Losetup, lab.Mkfs, Psql, {Command: pyclient.Python, Package: "python3-psycopg2"}},
	Faults: []drawn.Fault{
		{Name: "row-lock", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `postgres|:5432|accounts|report-job`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "alter-table", Suspects: []string{"session-lock", "lock-convoy"}, Subject: `postgres|:5432|accounts|report-job|migration`, Also: []string{"slow-dependency"}, Account: "lock"},
		{Name: "too-many-clients", Suspects: []string{"connection-limit"}, Subject: `postgres|:5432|leaky-app`, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "index-dropped", Suspects: []string{"slow-dependency", "cpu-saturated"}, Subject: `postgres|:5432`, Also: []string{"run-queue-wait"}, Account: "work"},
		{Name: "slow-function", Suspects: []string{"slow-dependency"}, Subject: `postgres|:5432`, Account: "sleep"},
		{Name: "slow-disk", Suspects: []string{"disk-stall"}, Subject: `loop|vd|sd|nvme|postgres|/data|slow`, Also: []string{"slow-dependency", "lock-convoy"}, Account: "disk"},
		{Name: "full-disk", Suspects: []string{"syscall-failing"}, Subject: `postgres|loop|/data`, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "cpu-quota", Suspects: []string{"cpu-throttled"}, Subject: `postgres|-db`, Also: []string{"slow-dependency"}, Account: "quota"},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	dir := filepath.Join(b.Dir(), "pgdata")
	opts := []lab.Option{}
	var disk *lab.Cgroup
	cpu := b.Cgroup("db", 0)
	switch b.Fault.Name {
	case "slow-disk", "full-disk":
		dir = filepath.Join(b.Volume("data", 384).Mount, "pg")
		disk = b.SlowDisk("slow", 0)
		opts = append(opts, lab.In(disk))
	default:
		opts = append(opts, lab.In(cpu))
	}
	most := b.Int("max_connections", 150, 300)
	s := Start(b, net.Server, dir, b.Fault.Name == "full-disk", net.Addr, []string{fmt.Sprintf("max_connections=%d", most)}, opts...)

	table := drawn.Pick(b.Draw, "table", "accounts_small", "accounts", "accounts_large")
	writes := b.Uniform("share of writes", 0.2, 0.9)
	hot := b.Uniform("share of updates of one row", 0.1, 0.9)
	giveUp := b.Int("statement_timeout ms", 1000, 20000)
	l := b.LoadOf(400)
	l.Size = b.Int("bytes of an entry", 400, 4000)
	if b.Fault.Name == "cpu-quota" { // the least quota is 1 % of a CPU
		l.Rate = max(l.Rate, b.Uniform("requests per second, where there is a quota", 60, 200))
		l.Conns = max(l.Conns, 4)
	}
	if l.Fresh = b.Chance("a connection for each request", 0.15) || b.Fault.Name == "too-many-clients"; l.Fresh {
		l.Rate = min(l.Rate, 40) // a process of its own for each connection
		l.Conns = min(l.Conns, 40)
	}
	l = l.Within(net.Trips(l, 1, 6))
	pyclient.Start(b, net.Client, "shop-app", "postgres", net.At(5432), l, "table="+table, fmt.Sprintf("rows=%d", Tables[table]),
		fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("hot=%.3f", hot), fmt.Sprintf("size=%d", l.Size), fmt.Sprintf("give-up=%d", giveUp))
	faults(b, s, net, table, most)
	b.SwitchQuota("cpu-quota", cpu, max(0.01, b.LogUniform("quota, of 0.5 ms per request", 0.2, 1.2)*l.Rate*0.0005))
	if disk != nil {
		b.SwitchWrites("slow-disk", disk, int(b.LogUniform("disk's writes, of 8 kB per commit", 0.1, 1)*l.Rate*writes*8192))
	}
}

// faults are those of the database itself.
func faults(b *drawn.Bench, s *Server, net drawn.Net, table string, most int) {
	to := net.At(5432)
	pyclient.SwitchSessions(b, "row-lock", net.Client, "report-job", pyclient.Sessions{Protocol: "postgres", To: to,
		Do: []string{"BEGIN", "UPDATE " + table + " SET note = 'checked' WHERE id = 1"}})
	var held []*lab.Process
	b.Switch("alter-table", func() {
		held = []*lab.Process{
			pyclient.Hold(b, net.Client, "report-job", pyclient.Sessions{Protocol: "postgres", To: to, Do: []string{"BEGIN", "SELECT count(*) FROM " + table}}),
			pyclient.Hold(b, net.Client, "migration", pyclient.Sessions{Protocol: "postgres", To: to, Do: []string{"SELECT pg_sleep(0.3)", "ALTER TABLE " + table + " ADD COLUMN IF NOT EXISTS seen date"}}),
		}
	}, func() {
		for _, p := range held {
			b.Stop(p)
		}
	})
	pyclient.SwitchSessions(b, "too-many-clients", net.Client, "leaky-app", pyclient.Sessions{Protocol: "postgres", To: to, Conns: most})
	b.Switch("index-dropped", func() { s.Do("DROP INDEX " + table + "_email") }, func() {
		go s.Do("CREATE INDEX " + table + "_email ON " + table + " (email)")
	})
	slow := b.Duration("slow function takes", 5*time.Millisecond, 400*time.Millisecond)
	b.Switch("slow-function", func() { s.NoteTakes(slow) }, func() { s.Do(noteOf) })
	full := filepath.Join(filepath.Dir(s.Dir), "old-backup")
	b.Switch("full-disk", func() {
		if err := datadir.Fill(full); err != nil {
			b.Fail("full-disk", err)
		}
	}, func() { os.Remove(full) })
	if b.Fault.Name == "slow-function" {
		b.Amount("a function of %v in each query", slow)
	}
	if b.Fault.Name == "index-dropped" {
		b.Amount("%d rows are read instead of one", Tables[table])
	}
}
