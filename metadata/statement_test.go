package metadata

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// What was stated by an earlier program holds with this one: a statement that reads otherwise needs another predicateType.
func TestStatementStays(t *testing.T) {
	record := []byte(testenv.Read(t, "testdata/version-3.json"))
	first := bytes.Replace(record, []byte(`"revision": 9`), []byte(`"revision": 1`), 1)
	got, err := Trail{Commits: []string{"a", "b"}, Records: [][]byte{first, record}, Work: "w", Files: map[string]string{File: "100644 f"}}.Statement()
	testenv.Must(t, err)
	want, err := os.ReadFile("testdata/statement-1.json")
	if diff := cmp.Diff(string(want), string(got)); err != nil || diff != "" {
		t.Errorf("%v: the statement is not as it was (-):\n%s", err, diff)
	}
}
