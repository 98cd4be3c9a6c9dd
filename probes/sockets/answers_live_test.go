package sockets

import (
	"snag/recording"

	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ways are the calls by which a program answers.
var ways = map[string]func(t *testing.T, c *net.TCPConn, b []byte){
	"write": func(_ *testing.T, c *net.TCPConn, b []byte) { _, _ = c.Write(b) },
	"writev": func(_ *testing.T, c *net.TCPConn, b []byte) {
		two := net.Buffers{b[:3], b[3:5], b[5:]}
		_, _ = two.WriteTo(c)
	},
	"sendmsg": func(t *testing.T, c *net.TCPConn, b []byte) {
		onFD(t, c, func(fd int) error { return unix.Sendmsg(fd, b, nil, nil, 0) })
	},
	"sendto": func(t *testing.T, c *net.TCPConn, b []byte) {
		onFD(t, c, func(fd int) error { return unix.Send(fd, b, 0) })
	},
}

func onFD(t *testing.T, c syscall.Conn, do func(fd int) error) {
	raw, err := c.SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { err = do(int(fd)) })
	}
	if err != nil {
		t.Error(err)
	}
}

// What real servers of each protocol write, errors and what is none.
func TestFailedAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.start()
	type answer struct {
		what, bytes, as string
	}
	all := []answer{
		{"nginx's bad gateway", "HTTP/1.1 502 Bad Gateway\r\nServer: nginx\r\n\r\n", answers[1]},
		{"too many requests", "HTTP/1.1 429 Too Many Requests\r\n\r\n", answers[1]},
		{"a page that is not there", "HTTP/1.1 404 Not Found\r\n\r\n", ""},
		{"a page", "HTTP/1.1 200 OK\r\n\r\n5", ""},
		{"kamailio's overload", "SIP/2.0 503 Service Unavailable\r\n\r\n", answers[2]},
		{"who is asked who he is", "SIP/2.0 401 Unauthorized\r\n\r\n", ""},
		{"no bandwidth", "RTSP/1.0 453 Not Enough Bandwidth\r\n\r\n", answers[3]},
		{"Redis without memory", "-OOM command not allowed when used memory > 'maxmemory'.\r\n", answers[4]},
		{"a key on another node", "-MOVED 3999 127.0.0.1:6381\r\n", ""},
		{"a number of Redis", ":42\r\n+OK\r\n         ", ""},
		{"memcached without memory", "SERVER_ERROR out of memory storing object\r\n", answers[5]},
		{"a value of memcached", "VALUE key 0 5\r\nhello\r\nEND\r\n", ""},
		{"PostgreSQL's deadlock", "E\x00\x00\x00\x7fSERROR\x00VERROR\x00C40P01\x00", answers[6]},
		{"rows of PostgreSQL", "T\x00\x00\x00\x21\x00\x01count\x00\x00\x00", ""},
		{"MySQL's lock wait timeout", "\x33\x00\x00\x01\xff\xb5\x04#HY000Lock wait timeout", answers[7]},
		{"MySQL's OK", "\x07\x00\x00\x01\x00\x01\x00\x02\x00\x00\x00        ", ""},
		{"an end of rows of MySQL", "\x05\x00\x00\x05\xfe\x00\x00\x02\x00          ", ""},
		{"RabbitMQ closes", "\x01\x00\x00\x00\x00\x00\x40\x00\x0a\x00\x32\x01\x40RESOURCE", answers[8]},
		{"mosquitto refuses", "\x20\x02\x00\x05            ", answers[9]},
		{"mosquitto lets in", "\x20\x02\x00\x00            ", ""},
		{"no common cipher", "\x15\x03\x03\x00\x02\x02\x28            ", recording.TLSAlert(40, false)},
		{"a warning that it closes", "\x15\x03\x03\x00\x02\x01\x00            ", ""},
		{"a short answer", "ok okay", ""},
		{"beanstalkd without memory", "OUT_OF_MEMORY\r\n", "beanstalkd OUT_OF_MEMORY"},
		{"beanstalkd drains", "DRAINING\r\n", "beanstalkd DRAINING"},
		{"beanstalkd's own error", "INTERNAL_ERROR\r\n", "beanstalkd INTERNAL_ERROR"},
		{"a job beyond its limit", "JOB_TOO_BIG\r\n", "beanstalkd JOB_TOO_BIG"},
		{"no such job", "NOT_FOUND\r\n", ""},
		{"no job in time", "TIMED_OUT\r\n", ""},
		{"a job that is due", "DEADLINE_SOON\r\n", ""},
		{"words that begin so", "DRAINING the pool\r\n", ""},
		{"slapd is busy", "\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\x33\x04\x00\x04\x00", "LDAP busy"},
		{"a directory that is closed", "\x30\x84\x00\x00\x00\x12\x02\x02\x01\x02\x61\x84\x00\x00\x00\x07\x0a\x01\x34\x04\x00\x04\x00", "LDAP unavailable"},
		{"a directory that is read-only", "\x30\x81\x0d\x02\x02\x01\x02\x67\x81\x07\x0a\x01\x35\x04\x00\x04\x00", "LDAP unwillingToPerform"},
		{"a password that is wrong", "\x30\x0c\x02\x01\x01\x61\x07\x0a\x01\x31\x04\x00\x04\x00", ""},
		{"a search that found", "\x30\x0c\x02\x01\x02\x65\x07\x0a\x01\x00\x04\x00\x04\x00", ""},
		{"an entry", "\x30\x1d\x02\x01\x02\x64\x18\x04\x0bcn=a,dc=test\x30\x09", ""},
		{"numbers of a client that speaks first", "421 rows were found\r\n", ""},
		{"numbers with words of SMTP", "451 4.3.0 Temporary lookup failure\r\n", ""},
	}
	const rounds = 3
	port := map[string]answer{}
	i := 0
	for _, a := range all {
		for way, send := range ways {
			i++
			local := "127.0.0.1:" + fmt.Sprint(7100+i)
			port[fmt.Sprint(7100+i)] = answer{a.what + " by " + way, a.bytes, a.as}
			l := b.listen(local)
			go func() {
				c, err := l.Accept()
				if err != nil {
					return
				}
				buf := make([]byte, 10)
				for {
					if _, err := c.Read(buf); err != nil {
						c.Close()
						return
					}
					send(t, c.(*net.TCPConn), []byte(a.bytes))
				}
			}()
			c := b.dial(local)
			buf := make([]byte, 256)
			for range rounds {
				_, _ = c.Write(make([]byte, 10))
				_, _ = c.Read(buf)
			}
			c.Close()
		}
	}
	// A connection beyond the limit gets its error before it asked for anything.
	l := b.listen("127.0.0.1:7099")
	go func() {
		for range rounds {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte("\x17\x00\x00\x00\xff\x10\x04Too many connections"))
			c.Close()
		}
	}()
	for range rounds {
		c := b.dial("127.0.0.1:7099")
		_, _ = c.Read(make([]byte, 64))
		c.Close()
	}
	// A client that objects to the server's certificate, before it has asked for anything.
	l = b.listen("127.0.0.1:7098")
	go func() {
		for i := range rounds {
			c, err := l.Accept()
			if err != nil {
				return
			}
			buf := make([]byte, 256)
			_, _ = c.Read(buf)
			_, _ = c.Write([]byte("\x16\x03\x03\x00\x04flight"))
			if i > 0 { // as OpenSSL reads: first the head
				_, _ = c.Read(buf[:5])
			}
			_, _ = c.Read(buf)
			c.Close()
		}
	}()
	for range rounds {
		c := b.dial("127.0.0.1:7098")
		_, _ = c.Write([]byte("\x16\x03\x01\x00\x05hello"))
		_, _ = c.Read(make([]byte, 64))
		_, _ = c.Write([]byte("\x15\x03\x03\x00\x02\x02\x2d"))
		_, _ = c.Read(make([]byte, 64))
		c.Close()
	}
	// Servers that greet: what they say first tells what their answers are.
	const ftp, pop3, imap = "220 (vsFTPd 3.0.5)\r\n", "+OK Dovecot ready.\r\n", "* OK [CAPABILITY IMAP4rev1] Dovecot ready.\r\n"
	const esmtp = "220 mail.test ESMTP\r\n"
	for i, g := range []struct{ what, greeting, bytes, as string }{
		{"no room for another", "421 There are too many connected users, please try later.\r\n", "", "reply 421 of FTP, SMTP or NNTP"},
		{"too many at once", "421 4.7.0 mail.test Error: too many connections from 10.0.0.1\r\n", "", "reply 421 of FTP, SMTP or NNTP"},
		{"a client that is listed", "554 5.7.1 Service unavailable; client blocked\r\n", "", ""},
		{"news that is not available", "400 Too many connections, try later\r\n", "", "reply 400 of FTP, SMTP or NNTP"},
		{"IMAP with too many", "* BYE Maximum number of connections exceeded.\r\n", "", "IMAP BYE"},
		{"Redis with too many", "-ERR max number of clients reached\r\n", "", answers[4]},
		{"a page of numbers", "421\r\n", "", ""},
		{"no data connection", ftp, "425 Failed to establish connection.\r\n", "reply 425 of FTP, SMTP or NNTP"},
		{"no PORT before", ftp, "425 Use PORT or PASV first.\r\n", ""},
		{"a login that is wrong", ftp, "530 Login incorrect.\r\n", ""},
		{"no such file", ftp, "550 Failed to open file.\r\n", ""},
		{"a download that its client broke off", ftp, "426 Failure writing network stream.\r\n", ""},
		{"a lookup that fails", esmtp, "451 4.3.0 <a@test>: Temporary lookup failure\r\n", "reply 451 of FTP, SMTP or NNTP"},
		{"no room for mail", esmtp, "452 4.3.1 Insufficient system storage\r\n", "reply 452 of FTP, SMTP or NNTP"},
		{"Exim without room", esmtp, "452 Space shortage, please try later\r\n", "reply 452 of FTP, SMTP or NNTP"},
		{"Exim's own problem", esmtp, "451 Temporary local problem - please try later\r\n", "reply 451 of FTP, SMTP or NNTP"},
		{"the system's mail is full", esmtp, "552-5.3.1 Mail system full\r\n", "reply 552 of FTP, SMTP or NNTP"},
		{"no TLS at the moment", esmtp, "454 4.7.0 TLS not available due to local problem\r\n", "reply 454 of FTP, SMTP or NNTP"},
		{"greylisted", esmtp, "451 4.7.1 Greylisting in action, please come back later\r\n", ""},
		{"greylisted by Exim", esmtp, "451 Temporarily rejected. Try again later.\r\n", ""},
		{"greylisted by Postfix", esmtp, "450 4.2.0 <a@test>: Recipient address rejected: Greylisted\r\n", ""},
		{"relaying", esmtp, "454 4.7.1 <a@b>: Relay access denied\r\n", ""},
		{"too many recipients", esmtp, "452 4.5.3 Error: too many recipients\r\n", ""},
		{"too many recipients of Exim", esmtp, "452 too many recipients\r\n", ""},
		{"a mailbox that is full", esmtp, "452 4.2.2 <a@test> Mailbox is full\r\n", ""},
		{"mail that is too large", esmtp, "552 5.3.4 Message size exceeds fixed limit\r\n", ""},
		{"nobody of that name", esmtp, "550 5.1.1 <a@test>: Recipient address rejected\r\n", ""},
		{"mail that was taken", esmtp, "250 2.0.0 Ok: queued as 4B1\r\n", ""},
		{"an internal fault of news", "200 news.test ready\r\n", "403 Archive server temporarily offline\r\n", "reply 403 of FTP, SMTP or NNTP"},
		{"no such article", "200 news.test ready\r\n", "430 No article with that message-id\r\n", ""},
		{"an IMAP server with a bug", imap, "a001 NO [SERVERBUG] Internal error occurred.\r\n", "IMAP SERVERBUG"},
		{"an IMAP server without its store", imap, "12 NO [UNAVAILABLE] Temporary authentication failure.\r\n", "IMAP UNAVAILABLE"},
		{"an IMAP limit", imap, "A00001 BAD [LIMIT] too many\r\n", "IMAP LIMIT"},
		{"an IMAP password that is wrong", imap, "a001 NO [AUTHENTICATIONFAILED] Authentication failed.\r\n", ""},
		{"an IMAP mailbox that is not there", imap, "a001 NO [NONEXISTENT] Unknown mailbox\r\n", ""},
		{"an IMAP farewell", imap, "* BYE Logging out\r\na001 OK Logout completed.\r\n", ""},
		{"a POP3 server's trouble", pop3, "-ERR [SYS/TEMP] Temporary internal error\r\n", "POP3 -ERR [SYS/…]"},
		{"a POP3 password that is wrong", pop3, "-ERR [AUTH] Authentication failed.\r\n", ""},
		{"a POP3 message that is not there", pop3, "-ERR There's no message 9.\r\n", ""},
	} {
		at := fmt.Sprint(7600 + i)
		port[at] = answer{g.what, "", g.as}
		l := b.listen("127.0.0.1:" + at)
		go func() {
			for range rounds {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte(g.greeting))
				if _, err := c.Read(make([]byte, 10)); err == nil && g.bytes != "" {
					_, _ = c.Write([]byte(g.bytes))
				}
				c.Close()
			}
		}()
		for range rounds {
			c := b.dial("127.0.0.1:" + at)
			_, _ = c.Read(make([]byte, 256))
			if g.bytes != "" {
				_, _ = c.Write(make([]byte, 10))
				_, _ = c.Read(make([]byte, 256))
			}
			c.Close()
		}
	}
	// FTP says what a transfer came to after it has announced it, SIP what a request came to.
	for at, says := range map[string][]string{
		"7097": {ftp, "150 Ok to send data.\r\n", "451 Failure writing to local file.\r\n", "221 Goodbye.\r\n"},
		"7096": {"", "SIP/2.0 100 Trying\r\n\r\n", "SIP/2.0 500 Server Internal Error\r\n\r\n", "SIP/2.0 200 OK\r\n\r\n"},
		"7095": {"", "150 apples are left\r\n", "451 pears are left\r\n", "221 plums are left\r\n"},
	} {
		l := b.listen("127.0.0.1:" + at)
		go func() {
			for range rounds {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = c.Write([]byte(says[0]))
				_, _ = c.Read(make([]byte, 10))
				_, _ = c.Write([]byte(says[1]))
				time.Sleep(250 * time.Millisecond)
				_, _ = c.Write([]byte(says[2]))
				_, _ = c.Read(make([]byte, 10))
				_, _ = c.Write([]byte(says[3]))
				c.Close()
			}
		}()
		for range rounds {
			c := b.dial("127.0.0.1:" + at)
			buf := make([]byte, 256)
			if says[0] != "" {
				_, _ = c.Read(buf)
			}
			_, _ = c.Write(make([]byte, 10))
			_, _ = c.Read(buf)
			_, _ = c.Read(buf)
			_, _ = c.Write(make([]byte, 10))
			_, _ = c.Read(buf)
			c.Close()
		}
	}
	port["7097"] = answer{"a disk that is full", "", "reply 451 of FTP, SMTP or NNTP"}
	port["7096"] = answer{"a request that came to nothing", "", answers[2]}
	port["7095"] = answer{"counts of a client that speaks first", "", ""}
	port["7098"] = answer{"a client for whom the certificate has expired", "", recording.TLSAlert(45, true)}
	port["7099"] = answer{"MySQL's greeting of one too many", "", answers[7]}
	time.Sleep(300 * time.Millisecond)
	r.Stop()
	rec := b.needs(r, "sockets.turns")
	for p, a := range port {
		n, as := failedAt(rec, b, p)
		want := uint64(0)
		if a.as != "" {
			want = rounds
		}
		if n != want || as != a.as {
			t.Errorf("%s: %d failed as %q, want %d as %q", a.what, n, as, want, a.as)
		}
	}
}
