"""PostgreSQL through psycopg2. table=T, rows=N (ids from 1), writes=SHARE (half of them
update a row, half insert into the journal), hot=SHARE of the updates that are of row 1,
size=N (bytes of an entry), give-up=MS (statement_timeout), db=NAME."""
import os
import random
import psycopg2


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.table, self.rows = options.get("table", ""), int(options.get("rows", "1"))
        self.writes, self.hot = float(options.get("writes", "0")), float(options.get("hot", "0"))
        self.entry = os.urandom(int(options.get("size", "100")) // 2).hex()  # which nothing compresses
        self.connection = psycopg2.connect(host=host, port=port, user="postgres", dbname=options.get("db", "postgres"), connect_timeout=int(timeout))
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        if "give-up" in options:
            self.do("SET statement_timeout = " + options["give-up"])

    def ask(self):
        row = random.randint(1, self.rows)
        if random.random() >= self.writes:
            self.cursor.execute("SELECT balance, note_of(id) FROM %s WHERE email = 'user%d@example.org'" % (self.table, row))
            if len(self.cursor.fetchall()) != 1:
                raise Exception("no row")
        elif random.random() < 0.5:
            if random.random() < self.hot:
                row = 1
            self.cursor.execute("UPDATE %s SET balance = balance + 1 WHERE id = %d" % (self.table, row))
        else:
            self.cursor.execute("INSERT INTO journal (entry) VALUES (%s)", (self.entry,))

    def do(self, statement):
        self.cursor.execute(statement)

    def close(self):
        self.connection.close()
