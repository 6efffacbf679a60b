package house_test

import (
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layout has every package, from the bottom to the top, and the libraries that it may
// import. A package imports only what stands above its own line, so no arrow leads up. What
// only tests use, below internal/test and beside the program, has no line.
const layout = `
internal/process github.com/google/uuid golang.org/x/sys
internal/secrets github.com/pelletier/go-toml
internal/text github.com/charmbracelet/x go.yaml.in/yaml
metadata github.com/go-json-experiment/json
internal/folders github.com/google/renameio golang.org/x/sys golang.org/x/text
pipelines
prompts/clean github.com/yuin/goldmark
prompts
internal/github github.com/google/go-github github.com/hashicorp/go-retryablehttp golang.org/x/time
internal/environ github.com/sethvargo/go-githubactions golang.org/x/term
internal/git
internal/sandbox github.com/google/uuid github.com/landlock-lsm/go-landlock golang.org/x/sys
metadata/store
pipelines/builtin go.yaml.in/yaml
phases
pipelines/source cuelang.org/go go.yaml.in/yaml golang.org/x/sys
phases/engine golang.org/x/sync
internal/exit
internal/gate
internal/rehearsal
internal/agents github.com/google/uuid go.yaml.in/yaml
internal/command
internal/hooks
internal/issue github.com/yuin/goldmark go.yaml.in/yaml golang.org/x/image
internal/view github.com/charmbracelet/x go.yaml.in/yaml
internal/setup github.com/pelletier/go-toml github.com/rogpeppe/go-internal go.yaml.in/yaml golang.org/x/mod
internal/page github.com/charmbracelet/x
internal/report
internal/telemetry
internal/terminal github.com/charmbracelet/x golang.org/x/term
internal/workspace github.com/google/uuid
internal/legacy github.com/go-json-experiment/json
internal/runs github.com/google/renameio
internal/doctor go.yaml.in/yaml golang.org/x/mod golang.org/x/sys
internal/eval cuelang.org/go github.com/google/renameio github.com/spf13/cobra golang.org/x/sync golang.org/x/tools
internal/bot github.com/charmbracelet/x
cmd/reprise github.com/sethvargo/go-githubactions github.com/spf13/cobra github.com/spf13/pflag
`

// beside are the folders that tests, pictures and measurements are in.
var beside = []string{"internal/test/", "internal/house/", "internal/e2e/", "internal/scripts/", "internal/pictures/"}

// linesOf gives the packages of a layout in their order, and the libraries of each.
func linesOf(layout string) (order []string, libraries map[string][]string) {
	libraries = map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(layout)) {
		words := strings.Fields(line)
		order = append(order, words[0])
		libraries[words[0]] = words[1:]
	}
	return order, libraries
}

func TestLayout(t *testing.T) {
	order, libraries := linesOf(layout)
	there := map[string]bool{}
	for _, file := range goFiles(t) {
		folder := path.Dir(file)
		if slices.ContainsFunc(beside, func(b string) bool { return strings.HasPrefix(folder+"/", b) }) {
			continue
		}
		there[folder] = true
		f, err := parser.ParseFile(token.NewFileSet(), path.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value) // the parser took it
			if wrong := wrongImport(order, libraries, folder, imported); wrong != "" {
				t.Errorf("%s: %s", file, wrong)
			}
		}
	}
	for _, line := range order {
		if !there[line] {
			t.Errorf("there is no package %s: take its line away", line)
		}
	}
}

// wrongImport says what is wrong with an import of a package, or "".
func wrongImport(order []string, libraries map[string][]string, folder, imported string) string {
	at := slices.Index(order, folder)
	ours, isOurs := strings.CutPrefix(imported, module)
	first, _, _ := strings.Cut(imported, "/")
	switch {
	case at < 0:
		return "package " + folder + " has no line in the layout: does its noun have a package already?"
	case isOurs && !slices.Contains(order[:at], ours):
		return folder + " may not import " + ours + ", which does not stand above it in the layout"
	case !isOurs && strings.Contains(first, ".") &&
		!slices.ContainsFunc(libraries[folder], func(l string) bool { return strings.HasPrefix(imported+"/", l+"/") }):
		return folder + " may not import " + imported + ": put the code into a package that may or, if this is how it has to be, add the library to its line in the layout"
	}
	return ""
}

func TestWrongImport(t *testing.T) {
	order, libraries := linesOf("metadata example.org/json\nphases\nphases/engine golang.org/x/sys")
	for _, tt := range []struct {
		folder, imported, part string
	}{
		{"phases", "strings", ""},
		{"phases", module + "metadata", ""},
		{"metadata", module + "phases", "does not stand above"},
		{"phases", module + "phases/engine", "does not stand above"},
		{"metadata", "example.org/json/v2", ""},
		{"metadata", "example.org/jsonnet", "may not import"},
		{"phases/engine", "golang.org/x/sys/unix", ""},
		{"phases", "golang.org/x/sys/unix", "may not import"},
		{"more", "strings", "has no line"},
	} {
		got := wrongImport(order, libraries, tt.folder, tt.imported)
		if tt.part == "" && got != "" || !strings.Contains(got, tt.part) {
			t.Errorf("%s imports %s: %q, want %q", tt.folder, tt.imported, got, tt.part)
		}
	}
}
