//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// frail is a git of which one command goes wrong: it fails, is killed, or is
// killed when it has done what it was to do. It is the one with that number of those whose
// arguments have a text. It takes its number by making a file that only one can make.
const frail = `#!/bin/sh
case "$*" in *'%[5]s'*) ;; *) exec "%[4]s" "$@" ;; esac
n=1
set -C
until { echo "$*" >"%[1]s/$n"; } 2>/dev/null; do n=$((n + 1)); done
set +C
if [ $n = %[2]d ]; then
	case %[3]s in
	fails) echo "fatal: unable to write: Input/output error" >&2; exit 128 ;;
	dies) kill -9 $$ ;;
	lost) "%[4]s" "$@"; kill -9 $$ ;;
	esac
fi
exec "%[4]s" "$@"
`

// bearGit does a turn during which one git command goes wrong, of those whose arguments have a
// text, and reports whether there were so many.
func (sc *scene) bearGit(d *turn, how string, at int, text string) bool {
	sc.t.Helper()
	git, err := exec.LookPath("git")
	testenv.Must(sc.t, err)
	sc.copy(d.before, sc.dir)
	counts := sc.t.TempDir()
	sc.write("bin/git", fmt.Sprintf(frail, counts, at, how, git, text))
	testenv.Must(sc.t, os.Chmod(sc.path("bin/git"), 0o755))
	l := sc.start(d.args...)
	code := l.code()
	testenv.Must(sc.t, os.Remove(sc.path("bin/git")))
	given, err := os.ReadFile(fmt.Sprintf("%s/%d", counts, at))
	if err != nil {
		return false
	}
	_, command, _ := strings.Cut(string(given), "maintenance.auto=false ") // the last of the settings of each
	wrong, said := "", l.said.String()
	if code != exit.Done && (code != exit.Failed || !strings.Contains(said, gitSays[how])) {
		wrong = fmt.Sprintf("exit code %d, and %q is to be told; ", code, gitSays[how])
	}
	if code == exit.Done { // it says so, and it has to be so
		wrong = cmp.Diff(d.after, sc.picture())
	}
	if wrong += sc.finishTurn(d); wrong != "" {
		sc.t.Errorf("%s, git command %d (%.60q) %s: %s\n%s", d.name, at, command, how, wrong, said)
	}
	return true
}

// gitSays is what people have to be told of a command that went wrong, where the program could
// not do without it.
var gitSays = map[string]string{
	"fails": "unable to write: Input/output error (exit status 128)",
	"dies":  "signal: killed", "lost": "signal: killed",
}
