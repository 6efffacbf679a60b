// Package testenv gives the tests of every room the same surroundings, whoever
// runs them and on whatever machine.
package testenv

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// config is the only configuration of git that tests have: somebody's name, and
// values for what otherwise comes from the home directory.
const config = `[user]
	name = Ada
	email = ada@example.com
[init]
	defaultBranch = main
	templateDir =
[core]
	excludesFile =
	attributesFile =
[protocol "file"]
	allow = always
[advice]
	detachedHead = false
[maintenance]
	auto = false
`

// foreign are how the names of variables begin that are about somebody's git,
// about a job of a forge, about reprise at work, or about agent programs.
var foreign = []string{
	"GIT_", "GITHUB_", "ACTIONS_", "RUNNER_", "INPUT_", "REPRISE_",
	"ANTHROPIC_", "CLAUDE", "OPENAI_", "CODEX_", "GEMINI_", "GOOGLE_",
}

// agents are the agent programs that somebody may have installed.
var agents = []string{"claude", "codex", "gemini"}

// Isolate takes out of the environment of this process what would reach git and
// reprise from whoever runs the tests: settings of git, a forge's job, agent
// programs with their keys, and that nohup has SIGHUP ignored. The function it
// returns removes what it made. It is called before any test runs, and not in
// processes that tests start: a test program that was started as if it were
// reprise, with a command, ends here. It would run its tests again, which start
// it again, without end.
func Isolate() (remove func()) {
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintf(os.Stderr, "this is a test program and not reprise: it cannot %s; have its TestMain do that\n", os.Args[1])
		os.Exit(2)
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, prefix := range foreign {
			if strings.HasPrefix(name, prefix) && name != "GIT_EXEC_PATH" {
				must(os.Unsetenv(name))
			}
		}
	}
	dir, err := os.MkdirTemp("", "reprise-git-")
	must(err)
	file := filepath.Join(dir, "config")
	must(os.WriteFile(file, []byte(config), 0o644))
	must(os.Setenv("GIT_CONFIG_GLOBAL", file))
	must(os.Setenv("GIT_CONFIG_NOSYSTEM", "1"))
	must(os.Setenv("GIT_ATTR_NOSYSTEM", "1"))
	must(os.Setenv("PATH", withoutAgents(os.Getenv("PATH"), filepath.Join(dir, "programs"))))
	// What is ignored, as below nohup or in the background of a script, stays ignored
	// in programs that a process starts, but what it hears itself does not.
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	return func() { must(os.RemoveAll(dir)) }
}

// Main runs the tests of a package with what Isolate does, and ends the process.
func Main(m *testing.M) {
	remove := Isolate()
	code := m.Run()
	remove()
	os.Exit(code)
}

// withoutAgents gives a PATH like the one there is in which no agent program is
// found. In the place of a folder that has one stands a folder of links to the
// others, which is made below dir.
func withoutAgents(path, dir string) string {
	folders := filepath.SplitList(path)
	for i, folder := range folders {
		if !slices.ContainsFunc(agents, func(name string) bool {
			_, err := os.Stat(filepath.Join(folder, name))
			return err == nil
		}) {
			continue
		}
		links := filepath.Join(dir, strconv.Itoa(i))
		must(os.MkdirAll(links, 0o755))
		programs, err := os.ReadDir(folder)
		must(err)
		for _, p := range programs {
			if !slices.Contains(agents, p.Name()) {
				must(os.Symlink(filepath.Join(folder, p.Name()), filepath.Join(links, p.Name())))
			}
		}
		folders[i] = links
	}
	return strings.Join(folders, string(filepath.ListSeparator))
}

func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("the surroundings of the tests: %v", err))
	}
}
