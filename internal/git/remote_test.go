package git

import "testing"

func TestOwnerAndName(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/widget.git":      "acme/widget",
		"https://github.com/acme/widget":          "acme/widget",
		"https://ghe.example.com:8443/acme/w.git": "acme/w",
		"git@github.com:acme/widget.git":          "acme/widget",
		"ssh://git@github.com/acme/widget.git":    "acme/widget",
		"file:///srv/widget.git":                  "",
		"/srv/acme/widget.git":                    "",
		"../widget.git":                           "",
		"https://example.com/a/b/c.git":           "",
		"":                                        "",
	} {
		if got := ownerAndName(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://github.com/acme/widget.git": "github.com", "https://ghe.example.com:8443/acme/w.git": "ghe.example.com",
		"git@github.com:acme/widget.git": "github.com", "ssh://git@github.com/acme/widget.git": "github.com",
		"/srv/acme/widget.git": "", "../widget.git": "", "": "",
	} {
		if got := Host(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
