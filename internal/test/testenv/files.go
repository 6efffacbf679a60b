package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// PutText writes a text into a file, and makes the folders that it needs.
func PutText(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// Put is PutText in a test that cannot go on without.
func Put(t testing.TB, file, text string) {
	t.Helper()
	Must(t, PutText(file, text))
}

// Read gives the text of a file, which has to be there.
func Read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	Must(t, err)
	return string(text)
}

// Must ends a test that cannot go on after an error.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
