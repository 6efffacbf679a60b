package main

import (
	"strings"
	"testing"
)

// The title of a group of the log is how the step ended; what an agent does is
// a group while it does it.
func TestGroupsCarryTheirResult(t *testing.T) {
	for name, verbose := range map[string]bool{"groups": false, "groups-verbose": true} {
		p := plays(t, "en")["middle"]
		var b strings.Builder
		open := false
		v := &groupedView{plainView: plainView{p: printer{&b, false}, o: viewOptions{Plan: p.plan, Verbose: verbose}}}
		v.group = func(title string) {
			if open {
				b.WriteString("::endgroup::\n")
			}
			if open = title != ""; open {
				b.WriteString("::group::" + title + "\n")
			}
		}
		for _, e := range p.events {
			v.Report(e)
		}
		v.Close()
		if open {
			t.Error("a group is left open")
		}
		golden(t, "log-"+name+".txt", b.String())
	}
}
