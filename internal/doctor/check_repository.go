package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// repository looks at the repository, where it comes from, and the run of the issue in it.
func (x *examination) repository(ctx context.Context) []Check {
	src, err := git.Find(ctx, x.o.Repo)
	if err != nil {
		way := text.If(errors.As(err, new(*git.NotARepository)), "go to a repository, or name one with --repo") // others say themselves what to do
		return []Check{lacking("repository", err.Error(), way)}
	}
	x.src = src
	at := "on " + src.Branch
	if src.Branch == "" {
		at = "on no branch, at " + src.Head[:min(len(src.Head), 10)]
	}
	checks := []Check{well("repository", src.Dir+", "+at), origin(src), defaultBranch(src)}
	if src.Shallow {
		checks = append(checks, hinted("history", "it is cut off (a shallow clone); a run works with it", "git fetch --unshallow, if agents are to see the history"))
	}
	return slices.Concat(checks, signing(ctx, src), x.shapes(ctx), x.began(ctx))
}

// signing tries the key of whoever has git sign commits.
func signing(ctx context.Context, src *git.Source) []Check {
	if !src.Signs() {
		return nil
	}
	if err := src.TrySigning(ctx); err != nil {
		return []Check{lacking("signing", err.Error(), "")}
	}
	return []Check{well("signing", "git signs the commits of a run as it signs yours")}
}

// shapes says in what a run does not find the repository as its user does.
func (x *examination) shapes(ctx context.Context) []Check {
	var checks []Check
	if left := x.src.Partial(); left != "" {
		checks = append(checks, hinted("objects", "the clone is partial ("+left+"): what is missing is fetched when a run needs it; agents and checks cannot fetch", "git fetch --refetch --filter=blob:limit=1g, if that is too slow"))
	}
	if x.src.Sparse() {
		checks = append(checks, hinted("checkout", "it is sparse: a run has all files of the repository", "leave it so if there is room for them"))
	}
	modules, err := x.src.Submodules(ctx)
	switch {
	case err != nil:
		checks = append(checks, hinted("submodules", err.Error(), ""))
	case len(modules) > 0:
		checks = append(checks, hinted("submodules", fmt.Sprintf("%s: their folders are empty for agents and checks", strings.Join(modules, ", ")), "have checks that need them fetch them"))
	}
	return append(checks, x.largeFiles(ctx)...)
}

func origin(src *git.Source) Check {
	const name = "origin"
	switch {
	case src.RemoteURL == "":
		return hinted(name, "there is none: a run stays on this machine", "git remote add origin ADDRESS")
	case src.GitHub == "":
		return hinted(name, src.RemoteURL+" has no OWNER/REPO: issues are not read from there", "take issues from files, with --issue-file")
	}
	return well(name, src.RemoteURL)
}

func defaultBranch(src *git.Source) Check {
	const name = "default branch"
	if src.DefaultBranch == "" {
		return hinted(name, "it is not known; pipelines and prompts are read from what is checked out", "git remote set-head origin --auto")
	}
	return well(name, src.DefaultBranch)
}

// writable looks at whether the repository takes commits.
func writable(src *git.Source) []Check {
	for _, dir := range []string{src.CommonDir, filepath.Join(src.CommonDir, "objects"), filepath.Join(src.CommonDir, "refs")} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return []Check{lacking("repository", fmt.Sprintf("nothing can be written in %s (%v), so a run could commit nothing", dir, err), "change its rights or its owner")}
		}
	}
	return nil
}

// largeFiles looks at the filters of a repository, and at the git-lfs of one that uses Git LFS: whether it is set up,
// and starts where a run has it convert files, in the sandbox.
func (x *examination) largeFiles(ctx context.Context) (out []Check) {
	const name = "Git LFS"
	filters, err := x.src.Filters(ctx)
	if err != nil {
		return []Check{hinted(name, err.Error(), "")}
	}
	at := slices.Index(filters, "lfs")
	if others := slices.DeleteFunc(slices.Clone(filters), func(f string) bool { return f == "lfs" }); len(others) > 0 {
		out = append(out, hinted("filters", strings.Join(others, ", ")+": not run here, so the files that .gitattributes has git convert so cannot be changed", "change such files yourself"))
	}
	switch {
	case at < 0:
		return out
	case x.src.LFS() == "":
		return append(out, hinted(name, "it is not set up here: agents and checks see pointers instead of the files that it keeps, and cannot change these", "install git-lfs, and run git lfs install"))
	}
	if err := startsHeld(ctx, x.env, x.src.LFS()); err != nil {
		if _, broken := says(ctx, x.env, []string{x.src.LFS(), "version"}, plainEnv(x.env)); broken != nil {
			return append(out, lacking(name, fmt.Sprintf("%s does not work: %v", x.src.LFS(), err), "install it again, or run git lfs uninstall to do without it"))
		}
		return append(out, lacking(name, fmt.Sprintf("%s does not work in the sandbox: %v", x.src.LFS(), err), "install it where programs of the system are, or start without a sandbox (--sandbox off)"))
	}
	return append(out, well(name, x.src.LFS()+": agents and checks have the files that it keeps, and what they change is uploaded with the push"))
}

// startsHeld has git-lfs say its version in the sandbox, if the system has one.
func startsHeld(ctx context.Context, env environ.Env, program string) error {
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return err
	}
	write, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(write) // a temporary folder; the system removes what is left
	hold := sandbox.Converters(sandbox.BestEffort, helper, env.Environ)
	argv, vars, err := hold([]string{program, "version"}, plainEnv(env), nil, write)
	if err != nil {
		return err
	}
	_, err = says(ctx, env, argv, vars)
	return err
}

// called begins a command of a shell with the program that it calls, behind variables.
var called = text.Pattern(`^\s*(?:[A-Za-z_]\w*=\S*\s+)*([A-Za-z][\w.+-]*)(?:\s|$)`)

// commands names the programs that setups and checks call first and nobody finds. The first command of a setup would
// stop a run; what comes later may be there by then.
func (x *examination) commands(context.Context) (checks []Check) {
	seen := map[string]bool{}
	look := func(what, name, run, file string, status Condition) {
		m := called().FindStringSubmatch(run)
		if m == nil || seen[m[1]] {
			return
		}
		seen[m[1]] = true
		if exec.Command("/bin/sh", "-c", `command -v "$1"`, "sh", m[1]).Run() != nil {
			checks = append(checks, Check{what, status, "there is no program " + m[1] + " in PATH, which " + name + " in " + file + " runs", "install it, or change that line: " + run})
		}
	}
	for _, p := range x.plans() {
		for i, c := range p.Setup {
			look("setup", c.Name, c.Run, p.Source, map[bool]Condition{true: Missing, false: Hint}[i == 0])
		}
		for _, ph := range p.Phases {
			for _, c := range ph.Checks {
				look("check", c.Name, c.Run, p.Source, Hint)
			}
		}
	}
	return checks
}
