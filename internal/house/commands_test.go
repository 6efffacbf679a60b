package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentedCommands holds the documents against the help of the program:
// no subcommand and no flag may be written of that it does not have.
func TestDocumentedCommands(t *testing.T) {
	program := built(t)
	help := programHelp(t, program)
	for _, doc := range documents(t) {
		for _, problem := range help.lint(parse(read(t, doc))) {
			t.Errorf("%s:%s", doc, problem)
		}
	}
	for name, text := range help {
		_, examples, has := strings.Cut(text, "\nExamples:\n")
		if examples, _, _ = strings.Cut(examples, "\n\n"); name != "" && !has {
			t.Errorf("the help of reprise %s has no example", name)
		}
		for _, problem := range help.lint(parse("```sh\n" + examples + "\n```\n")) {
			t.Errorf("an example of reprise %s, line %s", name, problem)
		}
	}
	if left := strings.Contains(help[""], "Additional Commands:"); left {
		t.Errorf("a command is in no group:\n%s", help[""])
	}
}

func TestHelpLint(t *testing.T) {
	help := helpTexts{
		"":    "Available Commands:\n  run         Run it\n  vet         Check it\n\nFlags:\n  -h, --help\n      --version\n",
		"run": "Usage:\n  reprise run [flags]\n\nFlags:\n      --dry-run\n      --issue string\n",
		"vet": "Usage:\n  reprise vet [flags]\n\nFlags:\n      --json\n",
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"clean", "`reprise run --issue 7`, `--json`, `reprise --version`\n\n```sh\nA=1 reprise vet --json && reprise run --dry-run # --not\ngo run ./cmd/reprise vet\n```\n", nil},
		{"no such command", "`reprise fly`\n", []string{"1: reprise has no command fly"}},
		{"no such flag", "`reprise vet --issue=7`\n", []string{"1: reprise vet has no flag --issue"}},
		{"no such flag anywhere", "`--fly`\n", []string{"1: no command of reprise has a flag --fly"}},
		{"in a script", "```sh\ncd x; go run ./cmd/reprise fly\n```\n", []string{"2: reprise has no command fly"}},
		{"at a prompt", "```console\n$ reprise vet --fly\nreprise says hello\n```\n", []string{"2: reprise vet has no flag --fly"}},
		{"other programs", "`git commit --amend`, `go tool -modfile=x reprise`\n", nil},
		{"placeholders", "`reprise COMMAND --help`, `reprise run [--dry-run]`, `reprise ...`\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, help.lint(parse(tt.text))); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// helpTexts are what the program says on --help, by subcommand; the empty name
// is the program itself.
type helpTexts map[string]string

var (
	listedCommand = regexp.MustCompile(`(?m)^  ([a-z][a-z-]*) {2,}\S`)
	flagName      = regexp.MustCompile(`--[a-z][a-z0-9-]*`)
	commandStart  = regexp.MustCompile(`^(?:[A-Z_]+=\S* +)*(?:\./)?(?:reprise|go run \./cmd/reprise) +(.*)$`)
	commandEnd    = regexp.MustCompile(`&&|\|\||[;|]`)
	firstWord     = regexp.MustCompile(`^[a-z][a-z-]*`) // a placeholder has capitals or dots
)

// built builds the program as a release does.
func built(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "reprise")
	args := []string{"build", "-ldflags=-s -w", "-o", program}
	if raced() {
		args = append(args, "-race") // its packages are built already
	}
	build := exec.Command("go", append(args, "./cmd/reprise")...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building reprise: %v\n%s", err, out)
	}
	return program
}

func programHelp(t *testing.T, program string) helpTexts {
	t.Helper()
	texts := helpTexts{}
	ask := func(command string, args ...string) {
		c := exec.Command(program, append(args, "--help")...)
		c.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("reprise %s --help: %v", command, err)
		}
		texts[command] = string(out)
	}
	ask("")
	list, _, _ := strings.Cut(texts[""], "\nFlags:")
	for _, m := range listedCommand.FindAllStringSubmatch(list, -1) {
		ask(m[1], m[1])
	}
	if len(texts) < 20 {
		t.Fatalf("reprise --help lists too few commands:\n%s", texts[""])
	}
	return texts
}

// raced reports whether the race detector watches this test.
func raced() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// lint gives what a page says of the program that is not so.
func (h helpTexts) lint(p page) []string {
	p.problems = nil
	for _, span := range p.spans {
		if flag := flagName.FindString(span.text); flag != "" && strings.HasPrefix(span.text, flag) && !h.anyHas(flag) {
			p.problem(span.line, "no command of reprise has a flag %s", flag)
		}
	}
	for _, typed := range slices.Concat(p.spans, p.commands) {
		text, _, _ := strings.Cut(typed.text, " #") // a comment
		for _, part := range commandEnd.Split(text, -1) {
			if m := commandStart.FindStringSubmatch(strings.TrimSpace(part)); m != nil {
				h.check(&p, typed.line, m[1])
			}
		}
	}
	return p.problems
}

// check holds the arguments of one call against the help.
func (h helpTexts) check(p *page, line int, args string) {
	command, name := firstWord.FindString(args), "reprise"
	if command != "" {
		name += " " + command
	}
	help, ok := h[command]
	if !ok {
		p.problem(line, "reprise has no command %s", command)
		return
	}
	for _, flag := range flagName.FindAllString(args, -1) {
		if !hasFlag(help, flag) {
			p.problem(line, "%s has no flag %s", name, flag)
		}
	}
}

func (h helpTexts) anyHas(flag string) bool {
	for _, help := range h {
		if hasFlag(help, flag) {
			return true
		}
	}
	return false
}

func hasFlag(help, flag string) bool {
	return slices.Contains(flagName.FindAllString(help, -1), flag)
}
