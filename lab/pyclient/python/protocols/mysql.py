"""MariaDB and MySQL through PyMySQL. Options of sql.py; give-up=S is innodb_lock_wait_timeout."""
import pymysql
import sql


class Client(sql.Shop):
    def __init__(self, to, options, timeout):
        host, port = to.rsplit(":", 1)
        super().__init__(pymysql.connect(host=host, port=int(port), user="app", password="app", database="shop", autocommit=True,
                                         connect_timeout=timeout, read_timeout=timeout, write_timeout=timeout), options)
        if "give-up" in options:
            self.do("SET innodb_lock_wait_timeout = " + options["give-up"])
