package git

import (
	"bytes"
	"compress/zlib"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is staged and not committed is never in the user's repository, and gone
// when the run is closed.
func TestStagedIsInQuarantine(t *testing.T) {
	user := newUser(t, nil)
	r := openRun(t, user)
	key := filepath.Join(r.Tree(), "key.txt")
	stored := func(id string) bool {
		_, err := os.Lstat(looseObject(filepath.Join(user, ".git", "objects"), id))
		return err == nil
	}
	write(t, key, "not to be seen\n")
	refused, err := r.Stage(t.Context(), []string{"key.txt"})
	must(t, err)
	id := refused.ops[0].id
	if stored(id) {
		t.Errorf("the user's repository has %s, which was only staged", id)
	}
	write(t, key, "to be seen\n")
	s, err := r.Stage(t.Context(), []string{"key.txt"})
	must(t, err)
	if _, err := os.Lstat(looseObject(r.staged.dir, id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was staged before is still there (%v)", err)
	}
	commitStage(t, r, "m", s)
	if !stored(s.ops[0].id) || stored(id) {
		t.Errorf("the user's repository has what is committed: %v, what was refused: %v", stored(s.ops[0].id), stored(id))
	}
	must(t, r.Close())
	if _, err := os.Lstat(r.staged.dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something staged outlives the run (%v)", err)
	}
}

func TestReadLoose(t *testing.T) {
	packed := func(text string) *bytes.Buffer {
		var b bytes.Buffer
		w := zlib.NewWriter(&b)
		_, _ = w.Write([]byte(text)) // a buffer takes all
		_ = w.Close()
		return &b
	}
	for _, tt := range []struct{ text, want, wrong string }{
		{"blob 3\x00abc", "abc", ""},
		{"blob 0\x00", "", ""},
		{"blob 9\x00abc", "", "EOF"},
		{"blob 11\x00abcdefghijk", "", "it has 11 bytes"},
		{"blob -1\x00", "", "it begins with"},
		{"blob", "", "EOF"},
	} {
		o, err := readLoose(packed(tt.text), 10)
		if tt.wrong == "" && (err != nil || o.Kind != "blob" || string(o.Data) != tt.want) {
			t.Errorf("%q gives %+v, %v", tt.text, o, err)
		}
		if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%q: the error is %v, want %q", tt.text, err, tt.wrong)
		}
	}
	if _, err := readLoose(strings.NewReader("no zlib"), 10); err == nil {
		t.Error("what is not compressed is read")
	}
}
