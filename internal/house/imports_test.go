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
	"metadata": {"github.com/go-json-experiment/json"},
	"metadata/store": {
		"internal/folders",
		"metadata",
		"golang.org/x/sys",
	},
	"prompts":      {"prompts/clean", "prompts/diff"},
	"prompts/diff": {},
	"prompts/clean": {
		"internal/chars",
		"prompts/unseen",
		"github.com/yuin/goldmark",
	},
	"prompts/unseen": {},
	"internal/cause": {},
	"internal/git": {
		"internal/address",
		"internal/bounded",
		"internal/cause",
		"internal/folders",
		"internal/lock",
		"internal/shelf",
		"github.com/google/renameio",
		"golang.org/x/sys",
	},
	"internal/bounded": {},
	"internal/network": {},
	"internal/lock":    {},
	"internal/size":    {},
	"pipelines": {
		"internal/bounded",
		"internal/cause",
		"internal/network",
		"internal/size",
		"cuelang.org/go",
		"go.yaml.in/yaml",
		"golang.org/x/sys",
	},
	"internal/secrets": {"github.com/pelletier/go-toml"},
	"phases":           {"metadata", "pipelines"},
	"phases/summary": {
		"metadata",
		"phases",
		"pipelines",
	},
	"phases/engine": {
		"internal/folders",
		"metadata",
		"phases",
		"pipelines",
		"prompts",
	},
	"internal/strict": {},
	"internal/passage": {
		"internal/gate",
		"internal/network",
		"internal/process",
		"metadata",
		"phases/engine",
		"pipelines",
	},
	"internal/agents": {
		"internal/folders",
		"internal/gate",
		"internal/passage",
		"internal/process",
		"internal/sandbox",
		"internal/strict",
		"metadata",
		"phases",
		"phases/engine",
		"pipelines",
		"github.com/google/uuid",
	},
	"internal/sandbox": {
		"internal/folders",
		"internal/process",
		"pipelines",
		"github.com/google/uuid",
		"github.com/landlock-lsm/go-landlock",
		"golang.org/x/sys",
	},
	"internal/process": {"github.com/google/uuid", "golang.org/x/sys"},
	"internal/gate":    {},
	"internal/github": {
		"internal/cause",
		"github.com/google/go-github",
		"github.com/hashicorp/go-retryablehttp",
		"golang.org/x/time/rate",
	},
	"internal/github/checks": {"internal/github"},
	"cmd/reprise": {
		"internal/agents",
		"internal/bot",
		"internal/command",
		"internal/definition",
		"internal/detect",
		"internal/doctor",
		"internal/environ",
		"internal/eval",
		"internal/exit",
		"internal/folders",
		"internal/generated",
		"internal/git",
		"internal/github",
		"internal/help",
		"internal/issue",
		"internal/job",
		"internal/legacy",
		"internal/lock",
		"internal/page",
		"internal/process",
		"internal/progress",
		"internal/report",
		"internal/runs",
		"internal/sandbox",
		"internal/terminal",
		"internal/text",
		"internal/workflow",
		"internal/workspace",
		"metadata",
		"phases",
		"phases/engine",
		"phases/summary",
		"pipelines",
		"prompts",
		"github.com/google/renameio",
		"github.com/sethvargo/go-githubactions",
		"github.com/spf13/cobra",
		"github.com/spf13/pflag",
		"golang.org/x/sys",
	},
	"internal/eval": {
		"internal/agents",
		"internal/command",
		"internal/definition",
		"internal/detect",
		"internal/environ",
		"internal/eval/expect",
		"internal/eval/stats",
		"internal/exit",
		"internal/folders",
		"internal/git",
		"internal/issue",
		"internal/lock",
		"internal/progress",
		"internal/runs",
		"internal/sandbox",
		"internal/terminal",
		"internal/text",
		"internal/workspace",
		"metadata",
		"phases",
		"pipelines",
		"github.com/google/renameio",
		"github.com/rogpeppe/go-internal/txtar",
		"github.com/spf13/cobra",
	},
	"internal/eval/expect": {"cuelang.org/go"},
	"internal/eval/stats":  {},
	"internal/consult": {
		"internal/command",
		"internal/environ",
		"internal/exit",
		"internal/process",
		"internal/text",
		"internal/workspace",
		"metadata",
		"phases",
		"phases/engine",
		"prompts",
	},
	"internal/review": {
		"internal/command",
		"internal/environ",
		"internal/github",
		"internal/issue",
		"internal/markdown",
		"internal/text",
		"internal/workspace",
		"metadata",
		"pipelines",
		"prompts",
		"prompts/clean",
	},
	"internal/delivery": {
		"internal/github",
		"internal/github/checks",
		"internal/page",
		"internal/review",
		"internal/trigger",
		"internal/workflow",
		"internal/workspace",
		"metadata",
		"pipelines",
	},
	"internal/bot": {
		"internal/agents",
		"internal/command",
		"internal/consult",
		"internal/definition",
		"internal/delivery",
		"internal/doctor",
		"internal/environ",
		"internal/exit",
		"internal/git",
		"internal/github",
		"internal/github/checks",
		"internal/inbox",
		"internal/issue",
		"internal/job",
		"internal/lock",
		"internal/markdown",
		"internal/page",
		"internal/process",
		"internal/progress",
		"internal/review",
		"internal/runs",
		"internal/terminal",
		"internal/text",
		"internal/trigger",
		"internal/workflow",
		"internal/workspace",
		"metadata",
		"phases",
		"phases/engine",
		"phases/summary",
		"pipelines",
		"prompts",
	},
	"internal/inbox": {
		"internal/command",
		"internal/environ",
		"internal/exit",
		"internal/github",
		"internal/page",
		"internal/review",
		"internal/trigger",
		"metadata",
		"phases",
		"pipelines",
	},
	"internal/trigger": {
		"internal/command",
		"internal/environ",
		"internal/github",
		"internal/job",
		"internal/markdown",
		"internal/page",
		"internal/review",
		"internal/sandbox",
		"internal/workflow",
		"metadata",
	},
	"internal/doctor": {
		"internal/agents",
		"internal/command",
		"internal/definition",
		"internal/environ",
		"internal/exit",
		"internal/generated",
		"internal/git",
		"internal/github",
		"internal/issue",
		"internal/sandbox",
		"internal/secrets",
		"internal/text",
		"internal/workflow",
		"internal/workspace",
		"metadata",
		"phases",
		"phases/engine",
		"pipelines",
		"prompts",
		"go.yaml.in/yaml",
		"golang.org/x/mod/semver",
		"golang.org/x/sys",
	},
	"internal/legacy": {
		"internal/environ",
		"internal/exit",
		"internal/folders",
		"internal/git",
		"internal/issue",
		"internal/progress",
		"internal/terminal",
		"internal/text",
		"internal/workspace",
		"metadata",
		"phases",
		"pipelines",
	},
	"internal/workspace": {
		"internal/agents",
		"internal/copies",
		"internal/definition",
		"internal/environ",
		"internal/exit",
		"internal/folders",
		"internal/git",
		"internal/issue",
		"internal/sandbox",
		"internal/secrets",
		"internal/setup",
		"internal/text",
		"internal/transcript",
		"metadata",
		"metadata/store",
		"phases",
		"phases/engine",
		"pipelines",
		"prompts",
		"prompts/clean",
		"github.com/google/uuid",
	},
	"internal/definition": {
		"internal/agents",
		"internal/exit",
		"internal/git",
		"internal/issue",
		"internal/text",
		"metadata",
		"phases",
		"pipelines",
		"prompts",
	},
	"internal/issue": {
		"internal/environ",
		"internal/exit",
		"internal/folders",
		"internal/git",
		"internal/github",
		"metadata",
		"prompts",
		"prompts/clean",
		"go.yaml.in/yaml",
	},
	"internal/page": {
		"internal/command",
		"internal/markdown",
		"internal/progress",
		"internal/sandbox",
		"internal/text",
		"metadata",
		"phases",
		"phases/engine",
		"pipelines",
		"prompts",
		"prompts/clean",
		"github.com/charmbracelet/x/ansi",
	},
	"internal/runs": {
		"internal/address",
		"internal/command",
		"internal/definition",
		"internal/environ",
		"internal/exit",
		"internal/folders",
		"internal/git",
		"internal/issue",
		"internal/lock",
		"internal/progress",
		"internal/report",
		"internal/terminal",
		"internal/text",
		"internal/transcript",
		"internal/workspace",
		"metadata",
		"phases",
		"phases/summary",
		"pipelines",
		"prompts",
		"github.com/google/renameio",
	},
	"internal/transcript": {
		"internal/text",
		"metadata",
		"phases/engine",
	},
	"internal/report": {
		"internal/progress",
		"internal/text",
		"internal/transcript",
		"metadata",
		"phases",
		"pipelines",
		"prompts",
	},
	"internal/terminal": {
		"internal/environ",
		"internal/progress",
		"internal/text",
		"metadata",
		"phases",
		"phases/engine",
		"phases/summary",
		"pipelines",
		"prompts",
		"github.com/charmbracelet/x/ansi",
		"golang.org/x/term",
	},
	"internal/progress": {
		"internal/command",
		"internal/exit",
		"internal/markdown",
		"internal/text",
		"metadata",
		"phases",
		"phases/summary",
		"pipelines",
		"prompts",
		"github.com/charmbracelet/x/ansi",
	},
	"internal/command": {
		"internal/chars",
		"internal/exit",
		"internal/github",
		"internal/markdown",
		"internal/text",
		"metadata",
		"phases",
		"phases/engine",
		"pipelines",
		"prompts",
		"prompts/clean",
	},
	"internal/markdown": {"internal/text", "prompts/clean"},
	"internal/job": {
		"internal/environ",
		"internal/folders",
		"internal/secrets",
		"internal/text",
		"pipelines",
		"github.com/sethvargo/go-githubactions",
	},
	"internal/detect": {"github.com/pelletier/go-toml", "go.yaml.in/yaml"},
	"internal/generated": {
		"internal/detect",
		"pipelines",
		"github.com/rogpeppe/go-internal/diff",
	},
	"internal/copies": {"internal/folders", "internal/size", "golang.org/x/sys"},
	"internal/setup":  {"internal/copies", "internal/folders", "pipelines"},
	"internal/workflow": {
		"internal/environ",
		"internal/exit",
		"internal/folders",
		"internal/generated",
		"go.yaml.in/yaml",
		"golang.org/x/mod/semver",
	},
	"internal/environ": {
		"internal/secrets",
		"pipelines",
		"golang.org/x/term",
	},
	"internal/exit": {
		"internal/cause",
		"internal/git",
		"internal/github",
		"metadata",
		"phases",
		"phases/engine",
		"pipelines",
		"prompts",
	},
	"internal/chars":        {},
	"internal/text":         {"internal/chars", "github.com/charmbracelet/x/ansi"},
	"internal/progresstest": {"*"},
	"internal/phasestest":   {"metadata", "pipelines"},
	"internal/folders":      {"github.com/google/renameio", "golang.org/x/sys", "golang.org/x/text"},
	"internal/shelf":        {},
	"internal/help": {
		"internal/environ",
		"internal/exit",
		"github.com/spf13/cobra",
	},
	"internal/address":   {},
	"internal/ordinary":  {},
	"internal/house":     {"*"},
	"internal/e2e":       {"*"},
	"internal/benchmark": {"*"},
	"internal/testenv":   {"golang.org/x/sys"},
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
