// Package pgbouncer draws incidents of PgBouncer before PostgreSQL.
package pgbouncer

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/pyclient"
	"snag/lab/real/datadir"
	"snag/lab/real/postgresql"
)

const subject = `pgbouncer|:6432|postgres|:5432`

// Family draws a PgBouncer before a PostgreSQL.
var Family = drawn.Family{
	Name: "pgbouncer", Kind: drawn.Database, Origin: drawn.Real, Software: []string{"PgBouncer", "PostgreSQL", "psycopg2"},
	Needs: []lab.Tool{lab.IP, postgresql.Psql, {Command: "pgbouncer", Package: "pgbouncer"}, {Command: pyclient.Python, Package: "python3-psycopg2"}},
	Faults: []drawn.Fault{
		{Name: "long-transactions", Suspects: []string{"pool-exhausted"}, Subject: subject + `|report-job`, Also: []string{"slow-dependency", "session-lock"}, Account: "in line"},
		{Name: "small-pool", Suspects: []string{"pool-exhausted"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "in line", Whole: true},
		{Name: "max-client-conn", Suspects: []string{"connection-limit"}, Subject: subject + `|leaky-app`, Also: []string{"error-answers"}, Account: "errors"},
		{Name: "row-lock", Suspects: []string{"session-lock", "pool-exhausted"}, Subject: subject + `|report-job|accounts`, Also: []string{"slow-dependency", "lock-convoy"}, Account: "lock"},
		{Name: "slow-queries", Suspects: []string{"slow-dependency", "pool-exhausted"}, Subject: subject, Account: "sleep"},
		{Name: "database-down", Suspects: []string{"upstream-refused", "service-killed"}, Subject: subject, Also: []string{"slow-dependency"}, Account: "errors", Whole: true},
	},
	Build: build,
}

func build(b *drawn.Bench) {
	net := b.Net()
	s := postgresql.Start(b, net.Server, filepath.Join(b.Dir(), "pgdata"), false, "127.0.0.1", nil)
	takes := b.Duration("queries take", 200*time.Microsecond, 30*time.Millisecond)
	s.NoteTakes(takes)

	l := b.LoadOf(400)
	writes, hot := b.Uniform("share of writes", 0.2, 0.8), b.Uniform("share of updates of one row", 0.2, 0.9)
	if l.Fresh = b.Chance("a connection for each request", 0.3) || b.Fault.Name == "max-client-conn"; l.Fresh {
		l.Rate, l.Conns = min(l.Rate, 100), min(l.Conns, 100)
	}
	size := b.Int("pool_size", 5, 40)
	few := b.LogUniform("too few connections, of what is needed", 0.3, 1.2)
	if b.Fault.Name == "small-pool" {
		takes = max(takes, time.Duration(2/l.Rate*float64(time.Second)))
		s.NoteTakes(takes)
		l.Conns = max(l.Conns, 8)
	}
	if b.Built("small-pool") {
		size = max(1, int(few*l.Rate*(1-writes)*takes.Seconds()))
		b.Amount("pool_size %d for %.0f queries per second of %v", size, l.Rate, takes)
	}
	most := b.Int("max_client_conn", 150, 400)
	run := filepath.Join(b.Dir(), "bouncer")
	datadir.For(b, run, "postgres")
	conf := b.File("pgbouncer.ini", fmt.Sprintf(`[databases]
postgres = host=127.0.0.1 port=5432 user=postgres dbname=postgres
[pgbouncer]
listen_addr = %s
listen_port = 6432
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = %d
max_client_conn = %d
query_wait_timeout = %d
server_login_retry = 1
`, net.Addr, size, most, b.Int("query_wait_timeout", 2, 120)))
	b.Run(net.Server, "pgbouncer", datadir.As("postgres", "pgbouncer", conf))
	b.Await("PgBouncer to listen", 10*time.Second, b.Listens(net.Server, ":6432"))
	table := drawn.Pick(b.Draw, "table", "accounts_small", "accounts", "accounts_large")
	to := net.At(6432)
	pyclient.Start(b, net.Client, "shop-app", "postgres", to, l, "table="+table, fmt.Sprintf("rows=%d", postgresql.Tables[table]), fmt.Sprintf("writes=%.3f", writes), fmt.Sprintf("hot=%.3f", hot))

	taken := b.Uniform("share of the pool that is taken", 0.9, 1.2)
	pyclient.SwitchSessions(b, "long-transactions", net.Client, "report-job", pyclient.Sessions{Protocol: "postgres", To: to, Conns: max(1, int(taken*float64(size))), Do: []string{"BEGIN", "SELECT 1"}})
	pyclient.SwitchSessions(b, "max-client-conn", net.Client, "leaky-app", pyclient.Sessions{Protocol: "postgres", To: to, Conns: most})
	pyclient.SwitchSessions(b, "row-lock", net.Client, "report-job", pyclient.Sessions{Protocol: "postgres", To: to, Do: []string{"BEGIN", "UPDATE " + table + " SET note = 'checked' WHERE id = 1"}})
	slow := b.Duration("slow queries take", 50*time.Millisecond, 2*time.Second)
	b.Switch("slow-queries", func() { s.NoteTakes(slow) }, func() { s.NoteTakes(takes) })
	b.Switch("database-down", func() { b.Stop(s.Process) }, nil)
	switch b.Fault.Name {
	case "long-transactions":
		b.Amount("%.0f %% of a pool of %d taken by idle transactions", 100*min(1, taken), size)
	case "slow-queries":
		b.Amount("queries take %v instead of %v", slow, takes)
	}
}
