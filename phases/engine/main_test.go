package engine

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m)
}
