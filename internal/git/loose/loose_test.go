package loose

import (
	"bytes"
	"compress/zlib"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git/objects"
)

func TestRead(t *testing.T) {
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
		o, err := read(packed(tt.text), 10)
		if tt.wrong == "" && (err != nil || o.Kind != "blob" || string(o.Data) != tt.want) {
			t.Errorf("%q gives %+v, %v", tt.text, o, err)
		}
		if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
			t.Errorf("%q: the error is %v, want %q", tt.text, err, tt.wrong)
		}
	}
	if _, err := read(strings.NewReader("no zlib"), 10); err == nil {
		t.Error("what is not compressed is read")
	}
}

// What is put into a folder is found there, as git writes it, and is written once.
func TestPut(t *testing.T) {
	dir := t.TempDir()
	id, err := Format{}.Put(dir, "blob", []byte("abc\n"))
	if err != nil || id != "8baef1b4abc478178b004d62031cf7fe6db6f903" {
		t.Fatalf("got %s, %v", id, err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(Path(dir, id), old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := (Format{}).Put(dir, "blob", []byte("abc\n")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(Path(dir, id))
	if err != nil || info.Mode().Perm()&0o222 != 0 || time.Since(info.ModTime()) > 30*time.Minute {
		t.Errorf("the file: %v, %v", info, err)
	}
	if files, err := os.ReadDir(filepath.Dir(Path(dir, id))); err != nil || len(files) != 1 {
		t.Errorf("the folder has %v, %v", files, err)
	}
	if o, err := Get(dir, id, objects.Unlimited); err != nil || o.Kind != "blob" || string(o.Data) != "abc\n" || o.ID != id {
		t.Errorf("got %+v, %v", o, err)
	}
	if o, err := Get(dir, strings.Repeat("0", 40), objects.Unlimited); err != nil || o.Kind != "" {
		t.Errorf("what is not there: %+v, %v", o, err)
	}
}
