// Package house_test holds the rules of the house: which room may import
// which, what the pure core may not touch, and that the documents say what is
// true. It has no code of its own; it reads the code and documents of others.
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

// module is the import path that all our rooms share.
const module = "github.com/reprise-ci/reprise/"

// rooms says what each room may import besides the standard library and
// itself. A name without a dot is a room of ours, "*" is anything. What stands
// under an allowed path is allowed too.
var rooms = map[string][]string{
	"metadata":           {"internal/folders", "github.com/go-json-experiment/json", "golang.org/x/sys"},
	"prompts":            {"github.com/yuin/goldmark"},
	"git":                {"internal/folders", "github.com/google/renameio", "golang.org/x/sys", "golang.org/x/text"},
	"pipelines":          {"cuelang.org/go", "golang.org/x/sys", "go.yaml.in/yaml"},
	"secrets":            {"github.com/zricethezav/gitleaks", "github.com/pelletier/go-toml"},
	"phases":             {"internal/folders", "metadata", "pipelines", "prompts"},
	"agents":             {"internal/folders", "phases", "metadata", "pipelines", "golang.org/x/sys", "github.com/google/uuid", "github.com/landlock-lsm/go-landlock"},
	"github":             {"github.com/google/go-github", "github.com/hashicorp/go-retryablehttp"},
	"cmd/reprise":        {"internal/folders", "metadata", "prompts", "git", "pipelines", "phases", "agents", "github", "secrets", "github.com/sethvargo/go-githubactions", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/charmbracelet/x/ansi", "github.com/google/uuid", "golang.org/x/sys", "golang.org/x/term", "gopkg.in/yaml.v3"},
	"internal/folders":   {},
	"internal/ordinary":  {},
	"internal/house":     {"*"},
	"internal/e2e":       {"*"},
	"internal/benchmark": {"*"},
	"internal/testenv":   {},
}

func TestImports(t *testing.T) {
	for _, file := range goFiles(t) {
		room := roomOf(file)
		allowed, ok := rooms[room]
		if !ok {
			t.Errorf("%s: room %q has no row in the table of rooms: add one, or put the file into a room that exists", file, room)
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path.Join(root, file), nil, parser.ImportsOnly)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, spec := range f.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value) // the parser took it
			if !mayImport(room, allowed, imported) {
				t.Errorf("%s: %s may not import %s", file, room, imported)
			}
		}
	}
}

func TestMayImport(t *testing.T) {
	for _, tt := range []struct {
		room, imported string
		want           bool
	}{
		{"git", "os/exec", true},
		{"git", module + "metadata", false},
		{"git", "golang.org/x/sys/unix", true},
		{"git", "golang.org/x/system", false},
		{"phases", module + "metadata", true},
		{"phases", module + "git", false},
		{"phases", "cuelang.org/go/cue", false},
		{"github", module + "github/githubtest", true},
		{"github", "github.com/google/go-github/v60/github", true},
		{"cmd/reprise", module + "internal/house", false},
		{"internal/e2e", module + "agents", true},
	} {
		if got := mayImport(tt.room, rooms[tt.room], tt.imported); got != tt.want {
			t.Errorf("%s importing %s: allowed is %v, want %v", tt.room, tt.imported, got, tt.want)
		}
	}
}

// mayImport answers for one import of a file in room.
func mayImport(room string, allowed []string, imported string) bool {
	ours, isOurs := strings.CutPrefix(imported, module)
	if !isOurs && !strings.Contains(strings.Split(imported, "/")[0], ".") {
		return true // the standard library
	}
	return slices.ContainsFunc(append(allowed, room), func(a string) bool {
		return a == "*" || ours == a || strings.HasPrefix(ours+"/", a+"/")
	})
}

// roomOf is the first folder of a file's path, or the first two below cmd and
// internal.
func roomOf(file string) string {
	parts := strings.Split(path.Dir(file), "/")
	if len(parts) > 1 && (parts[0] == "cmd" || parts[0] == "internal") {
		return path.Join(parts[:2]...)
	}
	return parts[0]
}
