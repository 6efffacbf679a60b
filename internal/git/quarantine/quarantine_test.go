package quarantine

import (
	"bytes"
	"compress/zlib"
	"strings"
	"testing"
)

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
