package report

import "testing"

func TestNamed(t *testing.T) {
	for address, want := range map[string]string{
		"https://github.com/octo/hello/issues/7":         "octo/hello#7",
		"https://git.example.com/octo/hello/pulls/12":    "octo/hello#12",
		"https://github.com/octo/hello/pull/12":          "octo/hello#12",
		"https://example.com/tracker/a/b/issues/7":       "https://example.com/tracker/a/b/issues/7",
		"https://github.com/octo/hello/issues/7?x=1#top": "octo/hello#7",
		"https://[broken": "https://[broken",
		"":                "",
	} {
		if got := named(address); got != want {
			t.Errorf("named(%q) is %q, want %q", address, got, want)
		}
	}
}
