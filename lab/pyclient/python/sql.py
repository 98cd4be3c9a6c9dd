"""What PostgreSQL and MariaDB are asked alike: table=T, rows=N (ids from 1), writes=SHARE
(half of them update a row, half insert into the journal), hot=SHARE of the updates that are
of row 1, size=N (bytes of an entry)."""
import os
import random


class Shop:
    def __init__(self, connection, options):
        self.table, self.rows = options.get("table", ""), int(options.get("rows", "1"))
        self.writes, self.hot = float(options.get("writes", "0")), float(options.get("hot", "0"))
        self.entry = os.urandom(int(options.get("size", "100")) // 2).hex()  # which nothing compresses
        self.connection, self.cursor = connection, connection.cursor()

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
