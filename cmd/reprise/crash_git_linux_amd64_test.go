//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
)

// frail is a git of which one command goes wrong: it fails, is killed, or is
// killed when it has done what it was to do. It takes its number by making a
// file that only one can make.
const frail = `#!/bin/sh
n=1
set -C
until { true >"%[1]s/$n"; } 2>/dev/null; do n=$((n + 1)); done
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

// bearGit does a turn during which one git command goes wrong, and reports
// whether there were so many.
func (sc *scene) bearGit(d *turn, how string, at int) bool {
	sc.t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		sc.t.Fatal(err)
	}
	sc.copy(d.before, sc.dir)
	counts := sc.t.TempDir()
	sc.write("bin/git", fmt.Sprintf(frail, counts, at, how, git))
	if err := os.Chmod(sc.path("bin/git"), 0o755); err != nil {
		sc.t.Fatal(err)
	}
	l := sc.start(d.args...)
	code := l.code()
	if err := os.Remove(sc.path("bin/git")); err != nil {
		sc.t.Fatal(err)
	}
	if _, err := os.Stat(fmt.Sprintf("%s/%d", counts, at)); err != nil {
		return false
	}
	wrong, said := "", l.said.String()
	if code != exit.Done && (code != exit.Failed || !strings.Contains(said, "git")) {
		wrong = fmt.Sprintf("exit code %d; ", code)
	}
	if wrong += sc.finishTurn(d); wrong != "" {
		sc.t.Errorf("%s, git command %d %s: %s\n%s", d.name, at, how, wrong, said)
	}
	return true
}
