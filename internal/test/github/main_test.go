package github

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestMain(m *testing.M) {
	testenv.Main(m)
}
