package all

import (
	"snag/lab/drawn"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	"snag/lab/real/apache"
	"snag/lab/real/dns"
	"snag/lab/real/etcd"
	"snag/lab/real/grpc"
	"snag/lab/real/gunicorn"
	"snag/lab/real/mosquitto"
	"snag/lab/real/node"
	"snag/lab/real/phpfpm"
	"snag/lab/real/tomcat"
	"snag/lab/real/uwsgi"
	"snag/lab/real/waitress"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,
	gunicorn.Family,
	phpfpm.Family,
	uwsgi.Family,
	node.Family,
	waitress.Family,
	apache.Family,
	tomcat.Family,
	mosquitto.Family,
	dns.Unbound,
	dns.Dnsmasq,
	grpc.Family,
	etcd.Family,
}
