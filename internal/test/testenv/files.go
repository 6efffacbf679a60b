package testenv

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// Is fails a test that got something else than it wants.
func Is[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		verb := "%+v"
		if reflect.TypeFor[T]().Kind() == reflect.String {
			verb = "%q"
		}
		t.Errorf("%s "+verb+", want "+verb, what, got, want)
	}
}

// Same is Is for what has parts.
func Same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Has fails a test whose text lacks one of the parts.
func Has(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("%s lacks %q:\n%s", what, p, text)
		}
	}
}

// Lacks fails a test whose text has one of the parts.
func Lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%s has %q:\n%s", what, p, text)
		}
	}
}
