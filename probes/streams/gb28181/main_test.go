package gb28181

import (
	"testing"

	"snag/internal/netns/netnstest"
)

func TestMain(m *testing.M) { netnstest.Main(m) }
