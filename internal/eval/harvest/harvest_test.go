package harvest

import (
	"strings"
	"testing"
)

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "x/test_a.py": true, "a_test.py": true, "a.test.js": true, "a.spec.tsx": true, "tests/a.rs": true, "src/test/A.java": true,
		"ATest.java": true, "a_spec.rb": true, "x/testdata/y": true, "__tests__/a.js": true,
		"a.go": false, "latest.go": false, "contest/a.go": false, "protest.py": false, "test.go": false, "a.js": false, "testing.md": false,
	} {
		if got := IsTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{"Add --flag, please!": "add-flag-please", "日本": "", "issue-7": "issue-7", strings.Repeat("ab ", 30): strings.TrimSuffix(strings.Repeat("ab-", 14), "-")[:40]} {
		if got := slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
