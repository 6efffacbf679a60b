package store

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// long is a valid run, rolled back n times.
func long(r metadata.Run, n int) metadata.Run {
	entry := r.RollbackHistory[0]
	r.RollbackHistory = nil
	for range n {
		r.RollbackHistory = append(r.RollbackHistory, entry)
	}
	return r
}

// sample is a record that has every field.
func sample(t testing.TB) metadata.Run {
	t.Helper()
	const file = "../testdata/version-4.json"
	data := []byte(testenv.Read(t, file))
	r, err := metadata.Parse(data, file)
	testenv.Must(t, err)
	return r
}
