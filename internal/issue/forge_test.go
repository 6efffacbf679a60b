package issue

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
)

func TestForge(t *testing.T) {
	for _, tt := range []struct {
		environ   string
		api, host string
		wrong     bool
	}{
		{"", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=https://api.github.com GITHUB_SERVER_URL=https://github.com", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=https://ghe.example.com/api/v3", "https://ghe.example.com/api/v3", "ghe.example.com", false},
		{"GITHUB_API_URL=https://api.acme.ghe.com", "https://api.acme.ghe.com", "acme.ghe.com", false},
		{"GITHUB_SERVER_URL=https://GHE.example.com:8443", "https://GHE.example.com:8443/api/v3", "ghe.example.com:8443", false},
		{"GITHUB_SERVER_URL=https://github.com", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=ghe.example.com", "", "", true},
		{"GITHUB_SERVER_URL=https://ada:secret@github.com", "", "", true},
	} {
		f, err := ForgeOf(environ.Env{Environ: strings.Fields(tt.environ)})
		if tt.wrong {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v", tt.environ, err)
			}
			continue
		}
		if err != nil || f.Api != tt.api || f.Host != tt.host {
			t.Errorf("%s: %+v, %v", tt.environ, f, err)
		}
	}
	token := func(vars ...string) string {
		f, err := ForgeOf(environ.Env{Environ: vars})
		if err != nil {
			t.Fatal(err)
		}
		return f.Token
	}
	if token("GH_TOKEN=b", "GITHUB_TOKEN=a") != "a" || token("GH_TOKEN=b", "GITHUB_TOKEN=") != "b" {
		t.Error("GITHUB_TOKEN comes first, and GH_TOKEN where it is empty")
	}
}

func TestIssueURL(t *testing.T) {
	for _, tt := range []struct{ host, address, want string }{
		{"github.com", "https://github.com/acme/widget/issues/7", "issue 7 of acme/widget"},
		{"github.com", " https://www.GitHub.com/acme/w.i-d_get/issues/7/?x=1#issuecomment-2", "issue 7 of acme/w.i-d_get"},
		{"ghe.example.com:8443", "https://ghe.example.com:8443/acme/widget/issues/123456789", "issue 123456789 of acme/widget"},
		{"github.com", "https://gitlab.com/acme/widget/issues/7", `"gitlab.com" is not github.com`},
		{"ghe.example.com", "https://github.com/acme/widget/issues/7", `"github.com" is not ghe.example.com`},
		{"github.com", "https://github.com.evil.example/acme/widget/issues/7", "is not github.com"},
		{"github.com", "https://github.com/acme/widget/pull/7", "is a pull request"},
		{"github.com", "https://github.com/acme/widget/issues/0", "is no issue"},
		{"github.com", "https://github.com/acme/widget/issues/9999999999", "is no issue"},
		{"github.com", "https://github.com/acme/../issues/7/x", "is no issue"},
		{"github.com", "https://github.com/acme/wid%20get/issues/7", "is no issue"},
		{"github.com", "https://ada:secret@github.com/acme/widget/issues/7", "give the address of an issue"},
		{"github.com", "acme/widget#7", "give the address of an issue"},
		{"github.com", "https://github.com/%zz", "give the address of an issue"},
	} {
		r, err := Forge{Host: tt.host}.Parse(tt.address)
		got := r.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, want %s", tt.address, got, tt.want)
		}
	}
}

func TestServes(t *testing.T) {
	for _, tt := range []struct {
		host, origin string
		want         bool
	}{
		{"github.com", "https://github.com/acme/widget.git", true},
		{"github.com", "git@github.com:acme/widget.git", true},
		{"github.com", "ssh://git@ssh.github.com:443/acme/widget.git", true},
		{"github.com", "git@work:acme/widget.git", true},
		{"github.com", "https://gitlab.com/acme/widget.git", false},
		{"github.com", "git@gitlab.com:acme/widget.git", false},
		{"ghe.example.com:8443", "https://ghe.example.com:8443/acme/widget", true},
		{"ghe.example.com:8443", "ssh://git@ghe.example.com:22/acme/widget", true},
		{"ghe.example.com:8443", "https://github.com/acme/widget", false},
	} {
		if got := (Forge{Host: tt.host}).Serves(tt.origin); got != tt.want {
			t.Errorf("%s on %s: %v", tt.origin, tt.host, got)
		}
	}
}

// The title is the first heading, in either form that Markdown has.
func TestTitle(t *testing.T) {
	for text, want := range map[string][2]string{
		"# Fix the list\n\nIt ends.\n":                     {"Fix the list", "It ends."},
		"Fix the list\r\n============\r\n\r\nIt ends.\r\n": {"Fix the list", "It ends."},
		"# Fix the list\r\rIt ends.\r":                     {"Fix the list", "It ends."},
		"\ufeffFix the list\n===\nIt ends.\n":              {"Fix the list", "It ends."},
		"```\na\n===\n```\n# Fix the list\n":               {"Fix the list", "```\na\n===\n```"},
		"Please.\n\n# Fix the list\n":                      {"Fix the list", "Please."},
	} {
		is, err := ReadFile("-", strings.NewReader(text))
		if err != nil || is.Title != want[0] || is.Body != want[1] {
			t.Errorf("%q: title %q, body %q, %v; want %q", text, is.Title, is.Body, err, want)
		}
	}
}
