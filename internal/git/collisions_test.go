package git

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAliases(t *testing.T) {
	t.Parallel()
	names := []string{"README.md", "src/main.go", "src/util/a.go", "Doc/x.md", "caf\u00e9.md", "both", "Both", "Stra\u00dfe"}
	tests := map[string]struct {
		changes []Change
		want    map[string]string
	}{
		"another case":           {[]Change{{Path: "readme.MD", Kind: Added}}, map[string]string{"readme.MD": "README.md"}},
		"another folder":         {[]Change{{Path: "SRC/new.go", Kind: Added}}, map[string]string{"SRC/new.go": "src"}},
		"a folder further in":    {[]Change{{Path: "src/Util/b.go", Kind: Added}}, map[string]string{"src/Util/b.go": "src/util"}},
		"another accent":         {[]Change{{Path: "cafe\u0301.md", Kind: Added}}, map[string]string{"cafe\u0301.md": "caf\u00e9.md"}},
		"the sign for Kelvin":    {[]Change{{Path: "k.md", Kind: Added}, {Path: "\u212a.md", Kind: Added}}, map[string]string{"\u212a.md": "k.md"}},
		"two new ones":           {[]Change{{Path: "A.go", Kind: Added}, {Path: "a.go", Kind: Added}}, map[string]string{"a.go": "A.go"}},
		"a file like a folder":   {[]Change{{Path: "doc", Kind: Added}}, map[string]string{"doc": "Doc"}},
		"only the case changes":  {[]Change{{Path: "README.md", Kind: Deleted}, {Path: "readme.md", Kind: Added}}, nil},
		"a folder is renamed":    {[]Change{{Path: "Doc/x.md", Kind: Deleted}, {Path: "doc/x.md", Kind: Added}}, nil},
		"both are there already": {[]Change{{Path: "Both/x", Kind: Added}}, nil},
		"no alias":               {[]Change{{Path: "src/new.go", Kind: Added}, {Path: "new/main.go", Kind: Added}}, nil},
		"what is there":          {[]Change{{Path: "both", Kind: Modified}}, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			aliases(test.changes, names)
			var got map[string]string
			for _, c := range test.changes {
				if c.Alias != "" {
					if got == nil {
						got = map[string]string{}
					}
					got[c.Path] = c.Alias
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("aliases (-want +got):\n%s", diff)
			}
		})
	}
}

func TestChangesKnowAliasesAndLinks(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"docs/agents.md": "obey", "tools/claude/settings.json": "{}", "a.txt": "a"})
	sh(t, user, "config", "core.symlinks", "true")
	for link, target := range map[string]string{"CLAUDE.md": "AGENTS.md", "AGENTS.md": "docs/agents.md", ".claude": "./tools/claude", "out": "/etc", "up": "../x"} {
		symlink(t, target, user+"/"+link)
	}
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-q", "-m", "links")
	r := openRun(t, user)
	commit(t, r, "{1}")
	write(t, r.Tree()+"/docs/agents.md", "disobey")
	write(t, r.Tree()+"/tools/claude/settings.json", "evil")
	write(t, r.Tree()+"/A.txt", "alias")
	write(t, r.Tree()+"/"+state+"/Metadata.json", "alias")
	changes, err := r.Changes(t.Context())
	must(t, err)
	var got []string
	for _, c := range changes {
		slices.Sort(c.LinkedFrom)
		got = append(got, strings.TrimSpace(c.Path+" "+c.Alias+" "+strings.Join(c.LinkedFrom, " ")))
	}
	want := []string{
		state + "/Metadata.json " + record, "A.txt a.txt",
		"docs/agents.md  AGENTS.md CLAUDE.md", "tools/claude/settings.json  .claude",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes, with their aliases and the links that lead there (-want +got):\n%s", diff)
	}
}
