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
// under an allowed path is allowed too, unless it is a room of its own.
var rooms = map[string][]string{
	"metadata":              {"github.com/go-json-experiment/json"},
	"metadata/store":        {"internal/folders", "metadata", "golang.org/x/sys"},
	"prompts":               {"prompts/clean", "prompts/diff"},
	"prompts/diff":          {},
	"prompts/clean":         {"internal/chars", "prompts/unseen", "github.com/yuin/goldmark"},
	"prompts/unseen":        {},
	"internal/cause":        {},
	"internal/git":          {"internal/address", "internal/cause", "internal/folders", "github.com/google/renameio", "golang.org/x/sys", "golang.org/x/text"},
	"internal/network":      {},
	"internal/size":         {},
	"pipelines":             {"internal/size", "internal/cause", "internal/network", "cuelang.org/go", "golang.org/x/sys", "go.yaml.in/yaml"},
	"internal/secrets":      {"github.com/pelletier/go-toml"},
	"phases":                {"metadata", "pipelines"},
	"phases/summary":        {"metadata", "pipelines", "phases"},
	"phases/engine":         {"internal/folders", "metadata", "pipelines", "prompts", "phases"},
	"internal/strict":       {},
	"internal/passage":      {"internal/gate", "internal/network", "internal/process", "metadata", "phases/engine", "pipelines"},
	"internal/agents":       {"internal/folders", "internal/gate", "internal/passage", "internal/strict", "internal/process", "internal/sandbox", "phases", "phases/engine", "metadata", "pipelines", "github.com/google/uuid"},
	"internal/sandbox":      {"internal/folders", "internal/process", "pipelines", "golang.org/x/sys", "github.com/google/uuid", "github.com/landlock-lsm/go-landlock"},
	"internal/process":      {"golang.org/x/sys", "github.com/google/uuid"},
	"internal/gate":         {},
	"internal/github":       {"internal/cause", "github.com/google/go-github", "github.com/hashicorp/go-retryablehttp", "golang.org/x/time/rate"},
	"cmd/reprise":           {"internal/help", "internal/sandbox", "internal/process", "internal/detect", "internal/generated", "internal/environ", "internal/exit", "internal/text", "internal/issue", "internal/definition", "internal/command", "internal/progress", "internal/page", "internal/runs", "internal/report", "internal/terminal", "internal/workspace", "internal/legacy", "internal/doctor", "internal/bot", "internal/job", "internal/workflow", "internal/folders", "internal/agents", "internal/git", "internal/github", "metadata", "phases", "phases/summary", "phases/engine", "pipelines", "prompts", "github.com/google/renameio", "github.com/sethvargo/go-githubactions", "github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/sys"},
	"internal/consult":      {"internal/environ", "internal/exit", "internal/text", "internal/command", "internal/workspace", "internal/process", "metadata", "phases", "phases/engine", "prompts"},
	"internal/review":       {"internal/environ", "internal/issue", "internal/workspace", "pipelines", "internal/command", "internal/github", "internal/markdown", "internal/text", "metadata", "prompts", "prompts/clean"},
	"internal/delivery":     {"internal/trigger", "internal/review", "internal/github", "internal/page", "internal/workflow", "internal/workspace", "metadata", "pipelines"},
	"internal/bot":          {"internal/process", "internal/trigger", "internal/consult", "internal/delivery", "internal/doctor", "internal/review", "internal/environ", "internal/exit", "internal/text", "internal/markdown", "internal/issue", "internal/definition", "internal/command", "internal/progress", "internal/page", "internal/terminal", "internal/workspace", "internal/job", "internal/workflow", "internal/agents", "internal/git", "internal/github", "metadata", "phases", "phases/summary", "phases/engine", "pipelines", "prompts"},
	"internal/trigger":      {"internal/environ", "internal/command", "internal/review", "internal/github", "internal/job", "internal/markdown", "internal/page", "internal/sandbox", "internal/workflow", "metadata"},
	"internal/doctor":       {"internal/sandbox", "internal/command", "internal/generated", "internal/environ", "internal/exit", "internal/text", "internal/issue", "internal/definition", "internal/workflow", "internal/workspace", "internal/agents", "internal/git", "internal/github", "internal/secrets", "metadata", "phases", "phases/engine", "pipelines", "prompts", "go.yaml.in/yaml", "golang.org/x/mod/semver", "golang.org/x/sys"},
	"internal/legacy":       {"internal/progress", "internal/terminal", "internal/environ", "internal/exit", "internal/text", "internal/issue", "internal/workspace", "internal/folders", "internal/git", "metadata", "phases", "pipelines"},
	"internal/workspace":    {"internal/setup", "internal/sandbox", "internal/environ", "internal/exit", "internal/text", "internal/issue", "internal/definition", "internal/folders", "internal/agents", "internal/git", "internal/secrets", "metadata", "metadata/store", "phases", "phases/engine", "pipelines", "prompts", "prompts/clean", "github.com/google/uuid", "internal/transcript"},
	"internal/definition":   {"internal/exit", "internal/text", "internal/issue", "internal/agents", "internal/git", "metadata", "phases", "pipelines", "prompts"},
	"internal/issue":        {"internal/environ", "internal/exit", "internal/folders", "internal/git", "internal/github", "metadata", "prompts", "prompts/clean", "go.yaml.in/yaml"},
	"internal/page":         {"internal/sandbox", "internal/command", "internal/markdown", "internal/progress", "internal/text", "metadata", "phases", "phases/engine", "pipelines", "prompts", "prompts/clean"},
	"internal/runs":         {"internal/address", "internal/environ", "internal/exit", "internal/text", "internal/issue", "internal/definition", "internal/command", "internal/progress", "internal/report", "internal/terminal", "internal/workspace", "internal/folders", "internal/git", "metadata", "phases", "phases/summary", "pipelines", "prompts", "github.com/google/renameio", "internal/transcript"},
	"internal/transcript":   {"internal/text", "metadata", "phases/engine"},
	"internal/report":       {"internal/transcript", "internal/progress", "internal/text", "metadata", "phases", "pipelines", "prompts"},
	"internal/terminal":     {"internal/environ", "internal/progress", "internal/text", "metadata", "phases", "phases/summary", "phases/engine", "pipelines", "prompts", "github.com/charmbracelet/x/ansi", "golang.org/x/term"},
	"internal/progress":     {"internal/exit", "internal/text", "internal/command", "internal/markdown", "metadata", "phases", "phases/summary", "pipelines", "prompts", "github.com/charmbracelet/x/ansi"},
	"internal/command":      {"internal/chars", "internal/exit", "internal/text", "internal/markdown", "internal/github", "metadata", "phases", "phases/engine", "pipelines", "prompts", "prompts/clean"},
	"internal/markdown":     {"internal/text", "prompts/clean"},
	"internal/job":          {"internal/environ", "internal/text", "internal/folders", "internal/secrets", "pipelines", "github.com/sethvargo/go-githubactions"},
	"internal/detect":       {"github.com/pelletier/go-toml", "go.yaml.in/yaml"},
	"internal/generated":    {"internal/detect", "pipelines", "github.com/rogpeppe/go-internal/diff"},
	"internal/setup":        {"internal/folders", "pipelines"},
	"internal/workflow":     {"internal/environ", "internal/exit", "internal/folders", "internal/generated", "go.yaml.in/yaml", "golang.org/x/mod/semver"},
	"internal/environ":      {"internal/secrets", "pipelines", "golang.org/x/term"},
	"internal/exit":         {"internal/cause", "internal/git", "internal/github", "metadata", "phases", "phases/engine", "pipelines", "prompts"},
	"internal/chars":        {},
	"internal/text":         {"internal/chars", "github.com/charmbracelet/x/ansi"},
	"internal/progresstest": {"*"},
	"internal/phasestest":   {"metadata", "pipelines"},
	"internal/folders":      {},
	"internal/help":         {"internal/environ", "internal/exit", "github.com/spf13/cobra"},
	"internal/address":      {},
	"internal/ordinary":     {},
	"internal/house":        {"*"},
	"internal/e2e":          {"*"},
	"internal/benchmark":    {"*"},
	"internal/testenv":      {"golang.org/x/sys"},
}

func TestImports(t *testing.T) {
	for _, file := range goFiles(t) {
		room := roomOf(path.Dir(file))
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
		{"internal/git", "os/exec", true},
		{"internal/git", module + "metadata", false},
		{"internal/git", "golang.org/x/sys/unix", true},
		{"internal/git", "golang.org/x/system", false},
		{"phases", module + "metadata", true},
		{"phases", module + "internal/git", false},
		{"phases", "cuelang.org/go/cue", false},
		{"phases", module + "phases/engine", false},
		{"phases/engine", module + "phases", true},
		{"internal/agents", module + "phases/engine", true},
		{"internal/agents", module + "phases/summary", false},
		{"internal/github", module + "internal/github/githubtest", true},
		{"internal/github", "github.com/google/go-github/v60/github", true},
		{"cmd/reprise", module + "internal/house", false},
		{"internal/e2e", module + "internal/agents", true},
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
		return a == "*" || isOurs && roomOf(ours) == a || !isOurs && strings.HasPrefix(imported+"/", a+"/")
	})
}

// roomOf is the room of a folder: the innermost one of the table that it is or
// lies in. What has no room is named by its folder.
func roomOf(folder string) string {
	for at := folder; at != "."; at = path.Dir(at) {
		if _, ok := rooms[at]; ok {
			return at
		}
	}
	return folder
}
