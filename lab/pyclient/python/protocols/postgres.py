"""PostgreSQL through psycopg2. Options of sql.py; give-up=MS (statement_timeout), db=NAME."""
import psycopg2
import sql


class Client(sql.Shop):
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        connection = psycopg2.connect(host=host, port=port, user="postgres", dbname=options.get("db", "postgres"), connect_timeout=int(timeout))
        connection.autocommit = True
        super().__init__(connection, options)
        if "give-up" in options:
            self.do("SET statement_timeout = " + options["give-up"])
