package ps

import (
	"testing"

	"snag/internal/netns/netnstest"
)

func TestMain(m *testing.M) { netnstest.Main(m) }
