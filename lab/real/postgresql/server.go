package postgresql

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/real/datadir"
)

// Server is a running PostgreSQL of Debian's.
type Server struct {
	*lab.Process
	Dir    string // of the data
	socket string
	bin    string
	bench  *drawn.Bench
}

// Tables are those that Start's server has, with their numbers of rows.
var Tables = map[string]int{"accounts_small": 25000, "accounts": 80000, "accounts_large": 250000}

// Psql is the tool that shows whether PostgreSQL is installed.
var Psql = lab.Tool{Command: "psql", Package: "postgresql"}

const schema = `CREATE TABLE %[1]s (id int PRIMARY KEY, email text, balance bigint, note text) WITH (fillfactor = 80);
INSERT INTO %[1]s SELECT i, 'user' || i || '@example.org', 0, repeat('n', 40) FROM generate_series(1, %[2]d) i;
CREATE INDEX %[1]s_email ON %[1]s (email);
`

// noteOf is a function that clients' queries call, as it is when all is well.
const noteOf = `CREATE OR REPLACE FUNCTION note_of(id int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN 'none'; END $$;`

// Start starts a server with data in dir, which is made; apart has its log on another disk,
// as is advised: without room for it the server ends.
func Start(b *drawn.Bench, ns, dir string, apart bool, addr string, settings []string, opts ...lab.Option) *Server {
	s := &Server{Dir: dir, socket: filepath.Join(b.Dir(), "pg-socket"), bench: b}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	if len(found) == 0 {
		b.Fail("postgres", fmt.Errorf("PostgreSQL is not installed: make setup-drawn installs it"))
		return s
	}
	s.bin = found[len(found)-1]
	datadir.For(b, s.socket, "postgres")
	datadir.For(b, dir, "postgres")
	datadir.Copy(b, "postgresql-2", dir, s.initialise)
	if apart {
		wal := filepath.Join(b.Dir(), "pg-wal")
		b.Command("", "mv", filepath.Join(dir, "pg_wal"), wal)
		b.Command("", "ln", "-s", wal, filepath.Join(dir, "pg_wal"))
	}
	s.Process = s.run(ns, addr, settings, opts...)
	return s
}

func (s *Server) initialise(dir string) {
	b := s.bench
	datadir.Command(b, datadir.As("postgres", s.bin+"/initdb", "-D", dir, "--auth=trust", "--no-sync", "--wal-segsize=4", "--locale=C.UTF-8")...)
	hba := filepath.Join(dir, "pg_hba.conf")
	if err := os.WriteFile(hba, []byte("local all all trust\nhost all all 0.0.0.0/0 trust\n"), 0o600); err != nil {
		b.Fail(hba, err)
		return
	}
	p := s.run("", "", []string{"fsync=off"})
	for table, rows := range Tables {
		datadir.Command(b, s.psql(fmt.Sprintf(schema, table, rows))...)
	}
	s.Do("CREATE TABLE journal (id bigserial PRIMARY KEY, entry text); " + noteOf)
	s.Do("VACUUM ANALYZE")
	datadir.Command(b, datadir.As("postgres", s.bin+"/pg_ctl", "-D", dir, "-m", "fast", "-w", "stop")...)
	b.Stop(p)
}

func (s *Server) run(ns, addr string, settings []string, opts ...lab.Option) *lab.Process {
	argv := []string{s.bin + "/postgres", "-D", s.Dir, "-c", "listen_addresses=" + addr, "-c", "unix_socket_directories=" + s.socket, "-c", "shared_buffers=64MB"}
	for _, v := range settings {
		argv = append(argv, "-c", v)
	}
	p := s.bench.Run(ns, "postgres", datadir.As("postgres", argv...), append(opts, lab.MayEnd())...)
	s.bench.Await("PostgreSQL to answer", 20*time.Second, func() (bool, error) {
		_, err := s.output("SELECT 1")
		return err == nil, err
	})
	return p
}

// NoteTakes sets how long that function takes.
func (s *Server) NoteTakes(d time.Duration) {
	s.Do(fmt.Sprintf("CREATE OR REPLACE FUNCTION note_of(id int) RETURNS text LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(%g); RETURN 'none'; END $$", d.Seconds()))
}

// Do does statements as an administrator, and waits for their end.
func (s *Server) Do(sql string) {
	if s.bench.Err() != nil {
		return
	}
	if _, err := s.output(sql); err != nil {
		s.bench.Fail("psql", err)
	}
}

func (s *Server) output(sql string) (string, error) {
	return s.bench.Output("", s.psql(sql)...)
}

func (s *Server) psql(sql string) []string {
	return []string{s.bin + "/psql", "-h", s.socket, "-U", "postgres", "-v", "ON_ERROR_STOP=1", "-qAtc", sql}
}
