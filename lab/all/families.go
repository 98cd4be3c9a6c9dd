package all

import (
	"snag/lab/drawn"
	nagledelayedack "snag/lab/nagle-delayed-ack"
	"snag/lab/real/gunicorn"
)

// Families of drawn incidents: those of the lab, then those of real software, then the
// healthy ones.
var Families = []drawn.Family{
	nagledelayedack.Family,
	gunicorn.Family,
}
