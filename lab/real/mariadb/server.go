package mariadb

import (
	"fmt"
	"path/filepath"
	"time"

	"snag/lab"
	"snag/lab/drawn"
	"snag/lab/real/datadir"
)

// tables are those that the server has, with their numbers of rows.
var tables = map[string]int{"accounts_small": 20000, "accounts": 60000, "accounts_large": 150000}

const schema = `CREATE TABLE %[1]s (id INT PRIMARY KEY, email VARCHAR(60), balance BIGINT, note VARCHAR(60), INDEX %[1]s_email (email)) ENGINE=InnoDB;
INSERT INTO %[1]s SELECT seq, CONCAT('user', seq, '@example.org'), 0, REPEAT('n', 40) FROM seq_1_to_%[2]d;
`

const noteOf = `CREATE OR REPLACE FUNCTION shop.note_of(id INT) RETURNS VARCHAR(60) NOT DETERMINISTIC NO SQL RETURN 'none'`

// server is a running MariaDB of Debian's.
type server struct {
	dir, socket string
	bench       *drawn.Bench
}

func start(b *drawn.Bench, ns, dir, addr string, settings []string, opts ...lab.Option) *server {
	s := &server{dir: dir, socket: filepath.Join(b.Dir(), "maria-socket"), bench: b}
	datadir.For(b, s.socket, "mysql")
	datadir.For(b, dir, "mysql")
	datadir.Copy(b, "mariadb-2", dir, s.initialise)
	s.run(ns, append(settings, "--bind-address="+addr, "--port=3306"), opts...)
	return s
}

func (s *server) initialise(dir string) {
	b := s.bench
	datadir.Command(b, "mariadb-install-db", "--no-defaults", "--user=mysql", "--datadir="+dir, "--auth-root-authentication-method=normal", "--skip-test-db", "--innodb-log-file-size=8M")
	p := s.run("", []string{"--skip-networking", "--innodb-flush-log-at-trx-commit=0"})
	s.do("CREATE DATABASE shop; CREATE USER app@'%' IDENTIFIED BY 'app'; GRANT ALL ON *.* TO app@'%';")
	for table, rows := range tables {
		datadir.Command(b, s.client("USE shop; "+fmt.Sprintf(schema, table, rows))...)
	}
	s.do("USE shop; CREATE TABLE journal (id BIGINT AUTO_INCREMENT PRIMARY KEY, entry TEXT) ENGINE=InnoDB; " + noteOf)
	datadir.Command(b, "mariadb-admin", "--no-defaults", "--socket="+s.file(), "-u", "root", "shutdown")
	b.Stop(p)
}

func (s *server) file() string { return filepath.Join(s.socket, "mariadbd.sock") }

func (s *server) run(ns string, settings []string, opts ...lab.Option) *lab.Process {
	argv := []string{"mariadbd", "--no-defaults", "--datadir=" + s.dir, "--socket=" + s.file(), "--pid-file=" + s.file() + ".pid",
		"--innodb-log-file-size=8M", "--innodb-buffer-pool-size=64M", "--skip-name-resolve", "--skip-log-bin"}
	p := s.bench.Run(ns, "mariadbd", datadir.As("mysql", append(argv, settings...)...), append(opts, lab.MayEnd())...)
	s.bench.Await("MariaDB to answer", 25*time.Second, func() (bool, error) {
		_, err := s.output("SELECT 1")
		return err == nil, err
	})
	return p
}

func (s *server) do(sql string) {
	if s.bench.Err() != nil {
		return
	}
	if _, err := s.output(sql); err != nil {
		s.bench.Fail("mariadb", err)
	}
}

func (s *server) output(sql string) (string, error) {
	return s.bench.Output("", s.client(sql)...)
}

func (s *server) client(sql string) []string {
	return []string{"mariadb", "--no-defaults", "--socket=" + s.file(), "-u", "root", "-e", sql}
}
