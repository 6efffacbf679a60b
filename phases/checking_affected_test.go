package phases

import "testing"

func TestTestFiles(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "test_a.py": true, "src/a.test.ts": true, "spec/a.rb": true, "tests/x.c": true, "a-spec.js": true, "__tests__/a.js": true,
		"latest.go": false, "contest/a.go": false, "main.go": false, "": false, "inspect.py": false,
	} {
		if got := testFile().MatchString(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}
