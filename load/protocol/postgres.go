package protocol

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
)

// Postgres sends one statement again and again as a simple query (PostgreSQL's frontend/backend
// protocol 3.0, 54.2.2).
type Postgres struct {
	writes  [][]byte
	config  *pgconn.Config
	prefers bool // TLS, where the server has it (sslmode=prefer, the default)
}

// NewPostgres reads a URL as psql takes it. Whatever it lacks comes from the environment, such as
// PGPASSWORD, and from the files that libpq reads.
func NewPostgres(url, statement string) (*Postgres, error) {
	c, err := pgconn.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	prefers := c.TLSConfig != nil && slices.ContainsFunc(c.Fallbacks, func(f *pgconn.FallbackConfig) bool { return f.TLSConfig == nil })
	c.Fallbacks = nil // these are connections of their own
	return &Postgres{[][]byte{message('Q', append([]byte(statement), 0))}, c, prefers}, nil
}

func message(kind byte, payload []byte) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(payload)+4)), payload...)
}

// New implements Protocol.
func (p *Postgres) New() Conversation { return &postgresClient{fixed: p.writes} }

// Server implements Protocol.
func (p *Postgres) Server() Server {
	return &counted{asks: sizeOf(p.writes), answer: append(message('C', []byte("SELECT 1\x00")), message('Z', []byte{'I'})...)}
}

// Login implements Login.
func (p *Postgres) Login(ctx context.Context, c net.Conn) (net.Conn, error) {
	config := p.config.Copy()
	if p.prefers {
		has, err := offersTLS(ctx, c)
		switch {
		case err != nil:
			return nil, err
		case has:
			c = &offered{Conn: c, asks: len(sslRequest), answer: []byte{'S'}}
		default:
			config.TLSConfig = nil
		}
	}
	config.DialFunc = func(context.Context, string, string) (net.Conn, error) { return c, nil }
	config.LookupFunc = func(_ context.Context, host string) ([]string, error) { return []string{host}, nil }
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	h, err := conn.Hijack()
	if err != nil {
		return nil, err
	}
	return h.Conn, nil
}

type postgresClient struct {
	fixed
	head   []byte // of a message, as far as it came
	left   int    // bytes of the message that are skipped
	failed bool
}

// Read implements Conversation. An answer ends when the server is ready for the next query.
func (r *postgresClient) Read(b []byte) (got Got, err error) {
	for len(b) > 0 {
		if r.left > 0 {
			n := min(r.left, len(b))
			r.left, b = r.left-n, b[n:]
			continue
		}
		n := min(5-len(r.head), len(b))
		if r.head, b = append(r.head, b[:n]...), b[n:]; len(r.head) < 5 {
			return got, nil
		}
		kind, size := r.head[0], int(binary.BigEndian.Uint32(r.head[1:]))
		if size < 4 || size > 1<<30 || !bytes.ContainsRune([]byte("12ACDEGHIKNRSTVWZdcnst"), rune(kind)) {
			return got, fmt.Errorf("%.5q is not a message of PostgreSQL", r.head)
		}
		r.head, r.left = r.head[:0], size-4
		switch kind {
		case 'E':
			r.failed = true
		case 'G', 'W':
			return got, errors.New("a COPY from the client cannot be asked for")
		case 'Z':
			got.Done++
			if r.failed {
				got.Failed++
			}
			r.failed = false
		}
	}
	return got, nil
}
