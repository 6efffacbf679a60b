package texts

import "testing"

func TestComplaint(t *testing.T) {
	for output, want := range map[string]string{
		"":                       "",
		"one\nno such package\n": "no such package",
		"error: subprocess-exited-with-error\n  x\nERROR: Failed to build wheel\nnote: This error originates from a subprocess\n": "ERROR: Failed to build wheel",
		"E: Unable to locate package x\r\nsee the log\n": "E: Unable to locate package x",
		"fatal: not a repository\nhint: make one\n":      "fatal: not a repository",
		"errors: 0\nall is well\n":                       "all is well",
	} {
		if got := Complaint(output); got != want {
			t.Errorf("of %q: %q, want %q", output, got, want)
		}
	}
}
