package program

import "testing"

func TestRefusal(t *testing.T) {
	t.Parallel()
	type read struct {
		rule           string
		final, unclear bool
	}
	for name, tt := range map[string]struct {
		out, stderr string
		want        read
	}{
		"nothing":              {"", "fatal: unable to access: Could not resolve host\n", read{"", false, true}},
		"somebody was faster":  {"To x\n!\ta:refs/heads/b\t[rejected] (fetch first)\n", "hint: Updates were rejected\n", read{"", false, false}},
		"at the same moment":   {"!\ta:refs/heads/b\t[remote rejected] (cannot lock ref 'refs/heads/b')\n", "", read{"", false, false}},
		"a rule of the remote": {"To x\n!\ta:refs/heads/b\t[remote rejected] (protected branch)\nDone\n", "remote: error: GH006: no\nremote:\n", read{"error: GH006: no (protected branch)", true, false}},
	} {
		rule, final, unclear := Refusal([]byte(tt.out), tt.stderr)
		if got := (read{rule, final, unclear}); got != tt.want {
			t.Errorf("%s: %+v, want %+v", name, got, tt.want)
		}
	}
}
