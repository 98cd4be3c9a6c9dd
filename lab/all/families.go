package all

import (
	"snag/lab/drawn"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	"snag/lab/real/haproxy"
	"snag/lab/real/mariadb"
	"snag/lab/real/memcached"
	"snag/lab/real/nginx"
	"snag/lab/real/pgbouncer"
	"snag/lab/real/postgresql"
	"snag/lab/real/redis"
	"snag/lab/real/varnish"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,
	haproxy.Family,
	mariadb.Family,
	memcached.Family,
	nginx.Family,
	pgbouncer.Family,
	postgresql.Family,
	redis.Family,
	varnish.Family,
}
