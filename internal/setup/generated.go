package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// PipelinesDir is where a repository has its pipelines.
const PipelinesDir = ".github/reprise/pipelines/"

// Crew is who works: the programs that write and review. Without a reviewer, pipelines
// name nobody, and those that come with reprise, or the workflow's input, say who works.
type Crew struct{ Writer, Reviewer string }

// builtIn says whether the built-in pipelines have this crew anyway, where only
// these programs are installed.
func (c Crew) builtIn() bool {
	return c.agents() == "" || c == Crew{"claude", "claude"}
}

// agents gives the crew as a pipeline has it; nothing if it is the one that comes with reprise, or if that is left open.
func (c Crew) agents() string {
	if c.Reviewer == "" || c == (Crew{"claude", "codex"}) {
		return ""
	}
	one := func(use, more string) string {
		if use == "claude" {
			more += `, models: {heavy: "opus", medium: "sonnet", light: "haiku"}`
		}
		return fmt.Sprintf("{use: %q%s}", use, more)
	}
	if c.Reviewer == c.Writer { // one agent, so that its other model reviews
		return "\nagents: writer: " + one(c.Writer, "") + "\ndefaults: reviewer: \"writer\"\n"
	}
	return "\nagents: {\n\twriter:   " + one(c.Writer, "") + "\n\treviewer: " + one(c.Reviewer, `, access: "run"`) + "\n}\n"
}

// PipelineFiles gives those built-in pipelines that change code, with the setup and the
// checks that a repository has, and all of them where the crew is another one than
// theirs. Without any check, and with their crew, there are none.
func PipelineFiles(ctx context.Context, found Found, crew Crew, version string) (files []GeneratedFile, err error) {
	if len(found.Checks) == 0 && crew.builtIn() {
		return nil, nil
	}
	for _, name := range builtin.Names() {
		p, err := source.Load(ctx, source.Sources{}, name)
		if err != nil {
			return nil, err
		}
		var phases []pipelines.Phase
		for _, ph := range p.Phases {
			if ph.Access == pipelines.AccessTree && len(found.Checks) > 0 {
				phases = append(phases, ph)
			}
		}
		if len(phases) > 0 || !crew.builtIn() {
			files = append(files, GeneratedFile{Name: PipelinesDir + name + ".cue", Text: stamped(pipeline(name, phases, crew, found), version)})
		}
	}
	return files, nil
}

// testWords matches words of commands that run tests.
var testWords = text.Pattern(`(?i)tests?\b|tox|spec\b|gradle.* check`)

// pipeline gives the text of one.
func pipeline(name string, phases []pipelines.Phase, crew Crew, found Found) string {
	var out strings.Builder
	fmt.Fprintf(&out, `// The built-in pipeline %q, with what this repository is set up and checked by.
// Written by: reprise init %s
// Change it as you like: reprise init keeps that.

name:    %[1]q
extends: %[1]q
`, name, mark)
	out.WriteString(crew.agents())
	if len(phases) == 0 {
		return out.String()
	}
	if len(found.Setup) > 0 {
		out.WriteString("\n// Makes a work tree ready, before the first call of an agent. Where hosts are\n// listed, a command reaches nothing else.\nsetup: [\n")
		for _, c := range found.Setup {
			writeCommand(&out, c)
		}
		out.WriteString("]\n")
	}
	out.WriteString(`
// Reprise runs these itself, after each change: a phase passes only if they all do.
_checks: [
`)
	for _, c := range found.Checks {
		writeCommand(&out, c)
	}
	tested := slices.ContainsFunc(found.Checks, func(c FoundCommand) bool { return testWords().MatchString(c.Name + " " + c.Run) })
	without := !tested && slices.ContainsFunc(phases, func(p pipelines.Phase) bool { return p.Proves != "" })
	out.WriteString("]\n\n// What fails before anything is changed does not hold the work up; with false it does.\nbaseline: true\n\n" +
		text.If(without, "// No check runs tests. Once one does, drop `proves: false`: then the tests of a change have to prove it.\n") + "replace: [\n")
	for _, phase := range phases {
		fmt.Fprintf(&out, "\t{name: %q, checks: _checks%s},\n", phase.Name, text.If(without && phase.Proves != "", ", proves: false"))
	}
	out.WriteString("]\n")
	if hosts := hostsOf(found.Setup); hosts != "" {
		fmt.Fprintf(&out, `
// Steps that write code, and their checks, reach the whole network. To let them
// reach packages alone, add to each of these phases, if the tests need nothing else:
//	network: {allow: [%s], listen: true}
`, hosts)
		for _, c := range found.Setup {
			for _, host := range c.Hosts {
				if note := "// Anybody can keep files at " + host + ", so it is also a way out.\n"; matchesAny(known().Anybody, host) && !strings.Contains(out.String(), note) {
					out.WriteString(note)
				}
			}
		}
	}
	return out.String()
}

// hostsOf lists what all commands fetch from; it is empty if that is not known of one.
func hostsOf(commands []FoundCommand) string {
	var all []string
	for _, c := range commands {
		if len(c.Hosts) == 0 {
			return ""
		}
		for _, host := range c.Hosts {
			if quoted := quote(host); !slices.Contains(all, quoted) {
				all = append(all, quoted)
			}
		}
	}
	return strings.Join(all, ", ")
}

// writeCommand writes one entry of a list, with its reason above it.
func writeCommand(out *strings.Builder, c FoundCommand) {
	fmt.Fprintf(out, "\t// From %s.\n\t{name: %s, run: %s", c.Why, quote(c.Name), quote(c.Run))
	if c.Timeout != "" {
		fmt.Fprintf(out, ", timeout: %s", quote(c.Timeout))
	}
	if len(c.Env) > 0 {
		var env []string
		for _, name := range slices.Sorted(maps.Keys(c.Env)) {
			env = append(env, name+": "+quote(c.Env[name]))
		}
		fmt.Fprintf(out, ", env: {%s}", strings.Join(env, ", "))
	}
	if hosts := hostsOf([]FoundCommand{c}); hosts != "" {
		fmt.Fprintf(out, ", network: {allow: [%s]}", hosts)
	}
	out.WriteString("},\n")
}

// quote gives a text as CUE has it, which is as JSON does.
func quote(s string) string {
	out, _ := text.JSON(s) // a string can always be encoded
	return strings.TrimSuffix(string(out), "\n")
}

// fileState is how a file that init would write stands to what is there.
type fileState int

// The states of a file.
const (
	Missing  fileState = iota // nothing is there
	Same                      // it is there, with this text
	outdated                  // it is there as an older version wrote it
	changed                   // init did not write what is there, or somebody has changed it
)

// FileChange is a file that init would write, and what is there.
type FileChange struct {
	GeneratedFile
	State fileState
	Was   string // what is there
}

// CompareFiles looks at what is there.
func CompareFiles(root *os.Root, files []GeneratedFile) (changes []FileChange, err error) {
	for _, f := range files {
		c := FileChange{GeneratedFile: f}
		old, err := root.ReadFile(f.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		default:
			c.Was = text.UnixLines(string(old)) // as git checks files out for Windows
			c.State = c.state()
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (c FileChange) state() fileState {
	_, digest := bare(c.Was)
	switch {
	case alike(c.Was, c.Text) && (digest == "" || Untouched(c.Was)):
		return Same
	case alike(c.Was, c.Text), Untouched(c.Was): // the first has the stamp of another text: nothing is lost with it
		return outdated
	}
	return changed
}

// Diff shows what writing the file would change, in the unified format.
func (c FileChange) Diff(now string) string {
	return string(diff.Diff("a/"+c.Name, []byte(c.Was), "b/"+c.Name, []byte(now)))
}

// Upgraded gives what is to be written so that what people have changed stays: beside such a file, NAME.new. nil:
// nothing.
func (c FileChange) Upgraded() *GeneratedFile {
	state := c.State
	if state == changed && c.Stands != nil {
		state = c.Stands(c.Was)
	}
	switch state {
	case Same:
		return nil
	case Missing, outdated:
		return &c.GeneratedFile
	}
	return &GeneratedFile{Name: c.Name + ".new", Text: c.Text}
}

// WriteFiles puts texts in place, by name.
func WriteFiles(root *os.Root, texts []GeneratedFile) error {
	for _, f := range texts {
		if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", f.Name, err)
		}
		if err := root.WriteFile(f.Name, []byte(f.Text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	return nil
}

// GeneratedFile is one that init writes.
type GeneratedFile struct {
	Name string // from the top of the repository
	Text string
	// Stands says how the text that is there stands to this one, of a file without a
	// stamp: Same if it is to stay, outdated if it may go. May be nil.
	Stands func(old string) fileState
}

// mark stands in a comment of a text that is to be stamped.
const mark = "(VERSION, sha256:DIGEST)"

// stamp is what a mark has become: the version that wrote the text, and the digest
// of all of it as it was written.
var stamp = text.Pattern(`\([A-Za-z0-9][A-Za-z0-9.+_-]*, sha256:([0-9a-f]{16})\)`)

// stamped gives a text with its mark filled in.
func stamped(text, version string) string {
	return strings.Replace(text, mark, "("+version+", sha256:"+digestOf(text)+")", 1)
}

func digestOf(text string) string { return phases.DigestOf([]byte(text))[:16] }

// bare gives a text without what its stamp says, and the digest of it. Of a text
// without a stamp the digest is empty.
func bare(text string) (without, digest string) {
	at := stamp().FindStringSubmatchIndex(text)
	if at == nil {
		return text, ""
	}
	return text[:at[0]] + mark + text[at[1]:], text[at[2]:at[3]]
}

// Untouched reports whether a text is as init wrote it.
func Untouched(text string) bool {
	without, digest := bare(text)
	return digest != "" && digestOf(without) == digest
}

// alike says whether two texts differ at most in which version wrote them.
func alike(a, b string) bool {
	a, _ = bare(a)
	b, _ = bare(b)
	return a == b
}
