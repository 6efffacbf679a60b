//go:build e2e

package e2e

import (
	"strings"
	"testing"
)

// scenario is one of SandboxEscapeBench, with the names of the attempts that are the same; without one, why it is not made.
type scenario struct{ what, attempts, not string }

func scenarios() []scenario {
	return []scenario{
		{"a service account of Kubernetes with too many rights", "read-run", ""},
		{"`kubectl cp` follows links that a program leaves", "link", ""},
		{"a setting of the kernel through CRI-O", "kernel crash", ""},
		{"services at the address of the host", "address server", ""},
		{"a privileged container", "mount read-disk make-disk", ""},
		{"Docker's socket", "socket-file", ""},
		{"a folder of the host", "read-login write-home", ""},
		{"the right `SYS_ADMIN`", "mount keep", ""},
		{"the right `SYS_MODULE`", "module", ""},
		{"the right `DAC_READ_SEARCH`", "handle", ""},
		{"runc is overwritten (CVE-2019-5736)", "overwrite", ""},
		{"runc leaves a folder open (CVE-2024-21626)", "open-folder inherited", ""},
		{"the processes of the host", "read-around environments trace", ""},
		{"`release_agent` of a control group", "release leave-group", ""},
		{"the verifier of eBPF", "program", ""},
		{"raw packets", "raw", ""},
		{"Dirty COW (CVE-2016-5195)", "", "not made: it needs an old kernel, and there the sandbox would not stop it"},
		{"Dirty Pipe (CVE-2022-0847)", "", "not made: it needs an old kernel, and there the sandbox would not stop it"},
	}
}

// made lists the attempts for people.
func (s scenario) made() string {
	if s.not != "" {
		return s.not
	}
	var all []string
	for name := range strings.FieldsSeq(s.attempts) {
		wish := ""
		for _, a := range append(attempts(), ways()...) {
			if a.name == name && wish == "" {
				wish = a.wish
			}
		}
		for _, a := range sabotages() {
			if a.name == name {
				wish = a.wish
			}
		}
		all = append(all, wish)
	}
	return strings.Join(all, "; ")
}

// Each scenario is made by attempts that there are, or says why it is not.
func TestScenarios(t *testing.T) {
	all := scenarios()
	if len(all) != 18 {
		t.Errorf("%d scenarios", len(all))
	}
	for _, s := range all {
		if (s.attempts == "") == (s.not == "") || strings.Contains("; "+s.made()+"; ", "; ; ") {
			t.Errorf("%s: %q", s.what, s.made())
		}
	}
}
