//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// sabotage is what a program does to its own run.
type sabotage struct {
	name string
	wish string // for people
	then string // what happens
	// do is a shell script in the work tree. $MARK is a file that nobody makes
	// unless reprise was led into it, and $PLACE the folder above the user's
	// home, checkout and origin.
	do string
	// checks are those of its phase, in CUE.
	checks string
	sizes  string        // of its sandbox, in CUE
	ends   metadata.Code // how the run ends; "" is completed
	look   func(p *place)
	// open is the gap of machines on which it is not stopped every time.
	open gap
}

func sabotages() []sabotage {
	never := func(file string) func(*place) {
		return func(p *place) {
			if out := p.exec(p.root, "git", "--git-dir", "origin.git", "cat-file", "-e", "reprise/issue-7:"+file); out.code == 0 {
				p.t.Errorf("%s was pushed", file)
			}
		}
	}
	gone := func(sign string) func(*place) {
		return func(p *place) {
			for end := time.Now().Add(5 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
				left := commandLines(p.t, sign)
				if len(left) == 0 {
					return
				}
				if time.Now().After(end) {
					p.t.Errorf("still there: %d processes, such as %q", len(left), left[0])
					return
				}
			}
		}
	}
	return []sabotage{
		{
			name: "hooks", wish: "plant git hooks, a filter, an alias and drivers in the tree", then: "none of them runs",
			do: `mkdir -p .git/hooks; for h in pre-commit post-commit commit-msg pre-push post-checkout post-index-change reference-transaction; do printf '#!/bin/sh\necho > %s\n' $MARK > .git/hooks/$h; chmod 755 .git/hooks/$h; done
git config core.fsmonitor "echo > $MARK; false"; git config core.sshCommand "echo > $MARK"; git config core.editor "echo > $MARK"
git config filter.x.clean "echo > $MARK; cat"; git config filter.x.smudge "echo > $MARK; cat"; git config diff.x.textconv "echo > $MARK; cat"; git config alias.status "!echo > $MARK"
echo '* filter=x diff=x' > .git/info/attributes; echo x > new.txt`,
		},
		{
			name: "instead", wish: "make the push go elsewhere, with the user's login", then: "the push goes to origin",
			do: `git config url.http://127.0.0.1:1/.insteadOf "$PLACE/"; git config url.http://127.0.0.1:1/.pushInsteadOf "$PLACE/"; git config credential.helper "!echo > $MARK"; echo x > new.txt`,
			look: func(p *place) {
				testenv.Is(p.t, "new.txt of origin reads", p.pushed("new.txt"), "x")
			},
		},
		{
			name: "gone", wish: "replace the tree's `.git`", then: "the run goes on",
			do: `rm -rf .git; echo "gitdir: $PLACE/repo/.git" > .git; echo x > new.txt`,
		},
		{
			name: "nested", wish: "make a repository in the tree that runs a program", then: "it is not committed, and runs nothing",
			do: `git init -q sub && cd sub && git config core.fsmonitor "echo > $MARK; false" && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; echo x > file`, look: never("sub"),
		},
		{
			name: "workflow", wish: "change `.github`", then: "it is reverted",
			do: `mkdir -p .github/workflows; echo 'on: push' > .github/workflows/evil.yml; echo x > new.txt`, look: never(".github/workflows/evil.yml"),
		},
		{
			name: "record", wish: "write the run's record `metadata.json`", then: "it is reverted",
			do: `echo '{"schema_version": 1, "status": "completed"}' > .reprise/issue-7/metadata.json; echo x > new.txt`,
			look: func(p *place) {
				if run := p.record(); len(run.Phases) != 1 || run.Phases[0].Name != "attack" {
					p.t.Errorf("the record has the phases %+v", run.Phases)
				}
			},
		},
		{
			name: "reason", wish: "leave a file for later phases", then: "it is reverted",
			do: `echo x > .reprise/issue-7/ROLLBACK_REASON.md; echo x > new.txt`, look: never(".reprise/issue-7/ROLLBACK_REASON.md"),
		},
		{
			name: "link", wish: "make the folder of its artifact a link to the user's home", then: "nothing is written there, and the run waits for a person", ends: metadata.ChangeRefused,
			do: `dir=$(dirname $REPRISE_ARTIFACT); rm -rf $dir; ln -s $PLACE/home $dir`,
			look: func(p *place) {
				if found, _ := filepath.Glob(filepath.Join(p.home, "*.md")); len(found) > 0 {
					p.t.Errorf("%q were written", found)
				}
			},
		},
		{
			name: "pipe", wish: "make its artifact a pipe", then: "it is reverted each time, and the run waits for a person", ends: metadata.ChangeRefused,
			do: `rm -f $REPRISE_ARTIFACT; mkfifo $REPRISE_ARTIFACT; exit 0`,
		},
		{
			name: "home", wish: "let a check plant settings for later checks", then: "each check has a fresh home, and the run fails", ends: metadata.CheckFailed,
			do:     `echo 'git config --global core.whitespace -blank-at-eol' > plant.sh; printf 'new \n' > new.txt; echo $REPRISE_STEP >> $REPRISE_ARTIFACT`,
			checks: `[{name: "unit", run: "sh plant.sh"}, {name: "lint", run: "git diff --check $(git hash-object -t tree /dev/null) HEAD -- new.txt"}]`,
		},
		{
			name: "caches", wish: "let a check plant something in caches of Go, npm, pip, Maven, Cargo or Gradle, in its settings or in `PATH`", then: "no later check meets it", ends: metadata.CheckFailed,
			do: `cat > places.sh << 'END'
printf '%s\n' "$(go env GOCACHE)" "$(go env GOMODCACHE)" "$(npm config get cache)" ~/.cache/pip ~/.m2/repository "${CARGO_HOME:-$HOME/.cargo}" "${GRADLE_USER_HOME:-$HOME/.gradle}" ~ ~/.config ~/.local/bin "$TMPDIR"
printf '%s\n' "$PATH" | tr : '\n'
END
echo $REPRISE_STEP >> $REPRISE_ARTIFACT; echo $REPRISE_STEP > new.txt`,
			checks: `[{name: "unit", run: "sh places.sh | while read d; do mkdir -p \"$d\" && echo x > \"$d/poison\" && test -e \"$d/poison\" && echo planted; done 2>/dev/null | wc -l; true"},
				{name: "lint", run: "sh places.sh | while read d; do ! test -e \"$d/poison\" || echo it meets \"$d\"; done; echo looked; exit 3"}]`,
			look: func(p *place) {
				checks := p.record().Phases[0].Checks.Results
				if n, _ := strconv.Atoi(strings.TrimSpace(checks[0].Output)); n < 10 {
					p.t.Errorf("what was planted: %q", checks[0].Output)
				}
				if got := strings.TrimSpace(checks[1].Output); got != "looked" {
					p.t.Error(got)
				}
			},
		},
		{
			name: "hidden", wish: "make a check pass with a hidden file that no clone will have", then: "the check does not see it, and the run fails", ends: metadata.CheckFailed,
			do:     `mkdir -p calc; echo '*' > calc/.gitignore; echo x > calc/passes; echo x > new.txt; echo $REPRISE_STEP >> $REPRISE_ARTIFACT`,
			checks: `[{name: "unit", run: "test -e calc/passes"}]`,
		},
		{
			name: "daemons", wish: "leave processes behind without session, parents and environment", then: "they are ended",
			do: `(setsid sh -c "env -i setsid sleep $SIGN & nohup sleep $SIGN > /dev/null 2>&1 & env -i sleep $SIGN &" &); env -i setsid sleep $SIGN & sleep 0.3; echo x > new.txt`, look: func(p *place) { gone(sign(p))(p) },
		},
		{
			name: "many", wish: "start processes without end", then: "there is a limit, and all are ended",
			do: `n=0; while [ $n -lt 450 ]; do (setsid sleep $SIGN &); n=$((n+1)); done; echo x > new.txt`, look: func(p *place) { gone(sign(p))(p) },
		},
		{
			name: "chain", open: noNamespaces, wish: "start processes that each start the next one and end", then: "all are ended; some may stay " + string(noNamespaces),
			do: `n=0; while [ $n -lt 50 ]; do setsid perl -e 'use POSIX; $0 = "chain '$SIGN'"; while (time - $^T < 20) { setsid; exit if fork; select(undef, undef, undef, 0.05) }' & n=$((n+1)); done; sleep 0.5; echo x > new.txt`, look: func(p *place) { gone("chain " + sign(p))(p) },
		},
		{
			name: "unlinked", wish: "fill the disk with a removed file that it keeps open", then: "the step ends and the run stops", ends: metadata.DiskFailed,
			sizes: `disk: "20MB"`, do: `exec 9> big; rm big; head -c 60000000 /dev/zero >&9; sleep 60`,
		},
		{
			name: "endless", wish: "print without end", then: "the step ends and the run stops", ends: metadata.AgentFailed, do: `yes evil`,
		},
	}
}

// sign is a number of seconds that no other process sleeps for.
func sign(p *place) string {
	return fmt.Sprintf("300.%d%d", os.Getpid(), len(p.root)) + strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, filepath.Base(p.root))
}

// commandLines finds the processes with a text in their command line.
func commandLines(t *testing.T, text string) (found []string) {
	t.Helper()
	for _, pid := range processesOf(t, text) {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may be gone by now
		found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
	}
	return found
}

// processesOf gives their numbers.
func processesOf(t *testing.T, text string) (found []int) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes to look through (%v)", err)
	}
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may be gone by now
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && strings.Contains(string(line), text) {
			found = append(found, pid)
		}
	}
	return found
}

// sabotage has a run whose agent is the script.
func (p *place) sabotage(s sabotage) output {
	p.t.Helper()
	script := fmt.Sprintf("#!/bin/sh\nMARK=%s/planted PLACE=%s SIGN=%s\nmkdir -p $(dirname $REPRISE_ARTIFACT); echo '# Done' > $REPRISE_ARTIFACT\n", p.root, p.root, sign(p))
	p.write("sabotage.sh", script+s.do+"\n")
	testenv.Must(p.t, os.Chmod(filepath.Join(p.root, "sabotage.sh"), 0o755))
	p.pipeline(fmt.Sprintf("{use: \"command\", command: [%q]}", filepath.Join(p.root, "sabotage.sh")), "false, checks: "+cmp.Or(s.checks, "[]"))
	p.write("attack.cue", p.read(filepath.Join(p.root, "attack.cue"))+"baseline: false\nsandbox: {"+s.sizes+"}\n")
	return p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", "required", "--push")
}

// What a program does to its own run harms nobody, and the run goes on or stops
// with a reason.
func TestSabotage(t *testing.T) {
	everyUser(t, func(t *testing.T, user int) {
		here := machine{}.here(t, user)
		for _, s := range sabotages() {
			if here.has(s.open) {
				t.Logf("%s is not stopped every time %s: not tried", s.name, s.open)
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				p := besieged(t, user, machine{})
				out := p.sabotage(s)
				if got := p.ending(); got != cmp.Or(s.ends, metadata.Done) {
					t.Errorf("the run ended with %s, want %s; exit code %d\n%s%s", got, s.ends, out.code, out.stdout, out.stderr)
				}
				if _, err := os.Stat(filepath.Join(p.root, "planted")); err == nil {
					t.Error("reprise was led to run what the program has planted")
				}
				if s.look != nil {
					s.look(p)
				}
				p.unharmed()
			})
		}
	})
}

// ending is why the run has ended, as origin has it.
func (p *place) ending() metadata.Code {
	p.t.Helper()
	run := p.record()
	switch {
	case run.Status == metadata.Completed:
		return metadata.Done
	case run.Stop != nil:
		return run.Stop.Code
	}
	return ""
}

// A program that fills the disk is ended before the disk is full, and what it
// left in its home is free again. The disk is a small one in memory, which not
// everybody may make.
func TestFullDisk(t *testing.T) {
	p := besieged(t, 0, machine{})
	disk := filepath.Join(p.root, "runs")
	testenv.Must(t, os.Mkdir(disk, 0o755))
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64m,mode=755", "none", disk).CombinedOutput(); err != nil {
		t.Logf("a disk for this cannot be made here (%v, %s); the limit itself is tested in package agents", err, out)
		return
	}
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", disk).Run() })
	out := p.sabotage(sabotage{do: "for n in 1 2 3 4 5 6 7 8 9; do head -c 5000000 /dev/zero > ~/fill$n; done; sleep 60"})
	if p.ending() != metadata.DiskFailed || !strings.Contains(out.stdout+out.stderr, "left, of ") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if found, _ := filepath.Glob(filepath.Join(disk, "*", "*", "homes", "*", "fill*")); len(found) > 0 {
		t.Errorf("still there: %q", found)
	}
}
