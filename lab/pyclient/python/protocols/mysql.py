"""MariaDB and MySQL through PyMySQL. Options as of postgres.py; give-up=S is
innodb_lock_wait_timeout."""
import os
import random
import pymysql


class Client:
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        self.table, self.rows = options.get("table", ""), int(options.get("rows", "1"))
        self.writes, self.hot = float(options.get("writes", "0")), float(options.get("hot", "0"))
        self.entry = os.urandom(int(options.get("size", "100")) // 2).hex()  # which nothing compresses
        self.connection = pymysql.connect(host=host, port=int(port), user="app", password="app", database="shop", autocommit=True,
                                          connect_timeout=timeout, read_timeout=timeout, write_timeout=timeout)
        self.cursor = self.connection.cursor()
        if "give-up" in options:
            self.do("SET innodb_lock_wait_timeout = " + options["give-up"])

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
