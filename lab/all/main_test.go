package all

import (
	"testing"

	"snag/lab/labtest"
)

func TestMain(m *testing.M) { labtest.Main(m) }
