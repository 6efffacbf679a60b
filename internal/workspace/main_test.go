package workspace

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) {
	testenv.InMemory()
	testenv.Main(m)
}
