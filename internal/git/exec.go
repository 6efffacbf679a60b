package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Error is a git command that failed. It holds no credentials.
type Error struct {
	Args   []string // the subcommand and what follows it
	Stderr string   // the tail, at most 64 kB
	Err    error
}

// Error names the subcommand and the last message of git.
func (e *Error) Error() string { return e.Why().In(prompts.Words("en")) }

// Why says which command failed, and what git said last.
func (e *Error) Why() metadata.Reason {
	last, err := e.Last(), metadata.Said(fmt.Sprint(e.Err))
	switch {
	case last == "":
		return metadata.Because("git_ended", "command", e.command(), "error", err)
	case strings.HasSuffix(last, ": Permission denied"), strings.HasPrefix(last, "insufficient permission "):
		return metadata.Because("git_denied", "command", e.command(), "said", metadata.Said(last), "error", err)
	}
	return metadata.Because("git_said", "command", e.command(), "said", metadata.Said(last), "error", err)
}

// command is git and the subcommand, without the settings before that.
func (e *Error) command() string {
	args := e.Args
	for len(args) > 2 && args[0] == "-c" {
		args = args[2:]
	}
	return strings.Join(append([]string{"git"}, args[:min(1, len(args))]...), " ")
}

// Last is the last message of git; empty if there is none.
func (e *Error) Last() string { return lastLine(e.Stderr) }

// Unwrap returns the system's error, but no fs.ErrNotExist: where git did not start, nothing was looked for.
func (e *Error) Unwrap() error {
	if errors.Is(e.Err, fs.ErrNotExist) {
		return nil
	}
	return e.Err
}

// lastLine prefers git's own "fatal:" or "error:" line to whatever follows it, and what a helper such as Git LFS has said
// to git's line that the push has failed.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	helpers := slices.DeleteFunc(slices.Clone(lines), func(line string) bool {
		return slices.ContainsFunc([]string{"error: failed to push some refs", "remote:", "To ", " !", "hint:"}, func(of string) bool { return strings.HasPrefix(line, of) })
	})
	if len(helpers) > 0 {
		lines = helpers
	}
	for _, line := range lines {
		for _, p := range []string{"fatal: ", "error: "} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				return rest
			}
		}
	}
	return lines[len(lines)-1]
}

// fixedSettings win over all configuration files, even the user's own, which an agent without a sandbox can change.
func fixedSettings() []string {
	return []string{
		"-c", "core.hooksPath=/dev/null",
		"-c", "core.fsmonitor=false",
		"-c", "core.attributesFile=/dev/null",
		"-c", "core.excludesFile=/dev/null",
		"-c", "core.quotePath=false",
		"-c", "diff.ignoreSubmodules=all",
		"-c", "submodule.recurse=false",
		"-c", "protocol.ext.allow=never",
		"-c", "safe.bareRepository=explicit",
		"-c", "gc.auto=0",
		"-c", "maintenance.auto=false",
	}
}

// call is one git command.
type call struct {
	Dir     string
	Env     []string // complete
	How     []string // arguments that go before args, such as -c
	Args    []string // without fixedSettings()
	Stdin   string
	Limit   int64    // bytes of output to keep; 0 means all
	Secrets []string // never to appear in an error
	Lock    *os.File // held open by the command as well; may be nil
	Private string   // settings that no environment shows, see privately; may be ""
	Lasting bool     // whatever is read has a full hash, see once
	Memory  int      // kB of data that git and each of its helpers may hold; 0: no limit
}

// do returns the command's standard output. With ctx its group ends: asked first, so that git removes locks, then killed.
func (c call) do(ctx context.Context) ([]byte, error) {
	args := slices.Concat(fixedSettings(), c.How, c.Args)
	cmd := exec.CommandContext(ctx, "git", args...)
	if c.Memory > 0 {
		cmd.Args = append([]string{"sh", "-c", `ulimit -d "$0" 2>/dev/null; exec "$@"`, strconv.Itoa(c.Memory), cmd.Path}, args...)
		cmd.Path = "/bin/sh" // whose pid becomes git's
	}
	cmd.Dir, cmd.Env, cmd.Stdin = c.Dir, c.Env, strings.NewReader(c.Stdin)
	out := &process.Head{Limit: c.Limit}
	stderr := &process.Excerpt{TailMax: 64 << 10, Show: func(said string) string {
		for _, s := range c.Secrets {
			said = strings.ReplaceAll(said, s, "***")
		}
		return said
	}}
	if c.Private != "" {
		file, err := folders.NamelessFile(c.Private)
		if err != nil {
			return nil, &Error{Args: c.Args, Err: fmt.Errorf("a file for the login of git: %w", err)}
		}
		defer file.Close() // git has its own
		cmd.ExtraFiles = []*os.File{file}
	}
	if c.Lock != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, c.Lock)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	err := process.RunBounded(cmd, out, stderr)
	if err == nil || errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil {
		// A helper that stays, such as a cache of credentials, may hold standard input.
		return out.Bytes(), nil
	}
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // helpers that outlived git
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return out.Bytes(), &Error{Args: c.Args, Stderr: stderr.String(), Err: err}
}

func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), *err)
	}
}

func exitCode(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return -1
}

func stderrOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Stderr
	}
	return ""
}

// privately takes the settings of HTTP and credentials, which may hold a login, out of git's environment, which any
// process of the user can read, into a file without a name, open to git and its children alone. On systems without such
// files they stay in the environment.
func privately(settings []setting) (open []setting, private string) {
	if !folders.Nameless {
		return settings, ""
	}
	b := &strings.Builder{}
	for _, s := range settings {
		section, rest, _ := strings.Cut(s.Key, ".")
		if section != "http" && section != "credential" {
			open = append(open, s)
			continue
		}
		if dot := strings.LastIndexByte(rest, '.'); dot >= 0 {
			section, rest = section+" "+quoted(rest[:dot]), rest[dot+1:]
		}
		fmt.Fprintf(b, "[%s]\n\t%s = %s\n", section, rest, quoted(s.Value))
	}
	if b.Len() == 0 {
		return open, ""
	}
	return append(open, setting{"include.path", privateFile}), b.String()
}

// privateFile is where git finds them: the first file that a command is started with besides the standard ones.
const privateFile = "/proc/self/fd/3"

// secretsIn lists the header values in settings, whole and by word.
func secretsIn(settings []setting) (out []string) {
	for _, s := range settings {
		if strings.HasSuffix(s.Key, ".extraheader") && s.Value != "" {
			f := strings.Fields(s.Value)
			out = append(out, s.Value, f[len(f)-1])
		}
	}
	return out
}

// checkPath refuses what must not be committed by that name.
func checkPath(p string) error {
	if err := checkPathName(p); err != nil {
		return &Unfit{p, err}
	}
	return nil
}

// Unfit says that a path is not committed, and why.
type Unfit struct {
	Path string
	error
}

func checkPathName(p string) error {
	if i := strings.IndexFunc(p, func(c rune) bool { return c < ' ' || c == 0x7f }); i >= 0 {
		return fmt.Errorf("%q: a name with a control character is not committed: rename the file", p)
	}
	if p == "" || p == "." || p != path.Clean(p) || path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("%q is not a clean path from the top of the repository", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		// Other systems take these names for .git as well.
		name := strings.ToLower(strings.TrimRight(part, ". "))
		if name == ".git" || name == "git~1" {
			return fmt.Errorf("%q lies in a .git folder, which is never committed", p)
		}
	}
	return nil
}

// Under says whether p is dir or lies in it. Nothing lies under "".
func Under(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

func underAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return Under(p, strings.TrimSuffix(dir, "/")) })
}

// overlap says whether one of the paths is, contains or lies in one of the others.
func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(p string) bool {
		return slices.ContainsFunc(b, func(q string) bool { return Under(p, q) || Under(q, p) })
	})
}

// records splits what git prints with -z.
func records(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// quotePath writes a path for fast-import and lists of object folders. Control characters were refused before.
func quotePath(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
}

// EscapeGlob writes a path where git expects a pattern.
func EscapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}
