package sandbox

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
)

// toolFolders are where programs are in a home that installs some, such as pip, pipx, go
// and cargo do. Beside them is what they need.
func toolFolders() []string { return []string{".local/bin", "go/bin", ".cargo/bin", ".dotnet/tools"} }

// keptTools is what a home that installs programs finds again of them.
func keptTools() []string { return []string{".local", "go/bin", ".cargo/bin", ".dotnet/tools"} }

// withTools puts the programs of a home behind all others of the PATH, in whose place none
// of them can come. All says that the home may get more of them meanwhile.
func withTools(env []string, home string, all bool) []string {
	dirs := filepath.SplitList(process.Lookup(env, "PATH"))
	for _, name := range toolFolders() {
		dir := filepath.Join(home, name)
		if _, err := os.Stat(dir); home != "" && (all || err == nil) {
			dirs = append(dirs, dir)
		}
	}
	return process.SetVar(env, "PATH", strings.Join(dirs, string(filepath.ListSeparator)))
}
