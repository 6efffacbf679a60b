package github

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestRoleOf(t *testing.T) {
	for _, tt := range [][2]string{{"admin", "admin"}, {"write", "write"}, {"read", "read"}, {"none", "none"}, {"owner", "admin"}, {"maintain", "maintain"}, {"", "none"}, {"superuser", "none"}, {"Admin", "none"}} {
		if got := parseRole(tt[0]); got != Role(tt[1]) {
			t.Errorf("permission %q counts as %s, want %s", tt[0], got, tt[1])
		}
	}
}

func TestRoleAtLeast(t *testing.T) {
	all := []Role{roleNone, roleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}
	for i, r := range all {
		for j, least := range all {
			if r.AtLeast(least) != (i >= j) {
				t.Errorf("%s.AtLeast(%s) is %t", r, least, r.AtLeast(least))
			}
		}
		for _, word := range []Role{"", "superuser", "Admin"} {
			if r.AtLeast(word) || word.AtLeast(r) {
				t.Errorf("%q compares with %s", word, r)
			}
		}
	}
}

func TestMarked(t *testing.T) {
	const marker = "<!-- reprise:x -->"
	for _, tt := range []struct{ body, want string }{
		{"hello", marker + "\nhello"},
		{marker + "\nhello", marker + "\nhello"},
		{marker + " \nhello", marker + "\n" + marker + " \nhello"},
		{"", marker + "\n"},
		{marker, marker},
	} {
		if got, err := marked(marker, tt.body); err != nil || got != tt.want {
			t.Errorf("marked(%q) = %q, %v", tt.body, got, err)
		}
	}
	for _, wrong := range []string{"", "reprise", "<!-- a -->\n", "<!-- a -->\n<!-- b -->", "<!-- " + strings.Repeat("x", 1000) + " -->"} {
		if _, err := marked(wrong, "x"); err == nil {
			t.Errorf("%q is a marker", wrong)
		}
	}
}

// GitHub counts as UTF-16 does.
func TestCut(t *testing.T) {
	for _, s := range []string{"a", "é", "日", "😀", "a😀"} {
		text := strings.Repeat(s, 70_000)
		got := cut(text)
		units := len(utf16.Encode([]rune(got)))
		if !strings.HasPrefix(text, got) || units > maxText || units < maxText-2 {
			t.Errorf("%q, repeated, is cut to %d units", s, units)
		}
	}
	for _, s := range []string{"", "short", strings.Repeat("日", maxText), strings.Repeat("😀", maxText/2)} {
		if cut(s) != s {
			t.Errorf("a text of %d bytes is cut", len(s))
		}
	}
}

func TestFollows(t *testing.T) {
	for _, tt := range []struct {
		more  bool
		link  string
		count int
		want  bool
	}{{true, "x", 100, true}, {false, "x", 100, false}, {false, "", 99, false}, {false, "", 100, true}} {
		k := answer{More: tt.more, Header: http.Header{"Link": {tt.link}}}
		if got := k.follows(tt.count); got != tt.want {
			t.Errorf("more %t, link %q, %d: %t", tt.more, tt.link, tt.count, got)
		}
	}
}

func TestLimiter(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	var waits []time.Duration
	c, err := New(Options{
		Patience: 25 * time.Second, Now: func() time.Time { return at },
		Slow: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil },
	})
	testenv.Must(t, err)
	take := func() {
		before := len(waits)
		switch err := c.spaced(t.Context(), &call{Request: Request{Method: http.MethodPost}}); {
		case err != nil:
			waits = append(waits, -1)
		case len(waits) == before:
			waits = append(waits, 0)
		}
	}
	for range 14 {
		take()
	}
	at = at.Add(time.Minute)
	take()
	at = at.Add(time.Hour)
	for range 11 {
		take()
	}
	const s = time.Second
	want := []time.Duration{
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10 * s, 20 * s, -1, -1, // what is refused does not count
		0,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10 * s,
	}
	if diff := cmp.Diff(want, waits); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
}

func TestCommentURL(t *testing.T) {
	for in, want := range map[string]string{
		"https://github.com/a/b/issues/7#issuecomment-12":     "https://github.com/a/b/issues/7#issuecomment-12",
		"https://github.com/a/b/issues/7?x=1#issuecomment-12": "https://github.com/a/b/issues/7#issuecomment-12",
		"https://github.com/a/b/issues/7#<script>":            "https://github.com/a/b/issues/7",
		"https://github.com/a/b/issues/7":                     "https://github.com/a/b/issues/7",
		"javascript:alert(1)#issuecomment-12":                 "",
		"https://u:p@github.com/a#issuecomment-12":            "",
	} {
		if got := commentURL(in); got != want {
			t.Errorf("commentURL(%q) = %q", in, got)
		}
	}
}
