// Package legacy takes over runs of ai-workflow-agent, which reprise replaces.
package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Options are the flags of import.
type Options struct {
	workspace.Options
	Branch string // that has the older run; empty: of the usual name
	Text   string // file with the text of the issue
	Dry    bool
	Json   bool
}

// Check refuses flags that do not go together.
func (o *Options) Check() error {
	switch {
	case o.Id == "":
		return exit.Usagef("which run? Give --issue N")
	case o.Language != "" && !slices.Contains(metadata.Languages(), o.Language):
		return exit.Usagef("--language %q is not one of %s", o.Language, strings.Join(metadata.Languages(), ", "))
	case o.Dry && o.Push != nil && *o.Push:
		return exit.Usagef("--dry-run never pushes: leave --push out")
	}
	return issue.CheckID(o.Id)
}

// welcome refuses an older run that is not one of this repository, or that was
// taken over already.
func (old *olderRun) welcome(ctx context.Context, env environ.Env, src *git.Source) error {
	if there := old.Repository; there != "" && src.GitHub != "" && !strings.EqualFold(there, src.GitHub) {
		return exit.Usagef("%s is of a run of %s, and this repository is %s: go to a clone of the other", old.Name, there, src.GitHub)
	}
	id := string(old.Issue)
	branch := env.Branch(id)
	_, err := workspace.RecordReader(ctx, src, branch, id)(phases.RecordFile(id))
	switch {
	case err == nil:
		return Already(id, branch)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// Already is the error of importing a run for an issue that has one.
func Already(id, branch string) error {
	return exit.Usagef("there is a run for issue %s already, on branch %s: go on with it (reprise run --issue %[1]s), or rename that branch and import again", id, branch)
}

// IssueOf gives the issue with its text, which the older record lacks.
func (o Options) IssueOf(ctx context.Context, env environ.Env, src *git.Source, old *olderRun) (issue.Issue, error) {
	is, err := issue.Issue{}, error(nil)
	if o.Text != "" {
		is, err = issue.ReadFile(o.Text, nil)
	} else if is, err = onGitHub(ctx, env, src, string(old.Issue)); err != nil {
		err = fmt.Errorf("%s has no text of the issue, and it cannot be read from GitHub: %w; give it with --issue-file FILE", old.Name, err)
	}
	is.ID, is.URL = string(old.Issue), cmp.Or(is.URL, old.IssueURL)
	return is, err
}

// onGitHub reads an issue of this repository from GitHub.
func onGitHub(ctx context.Context, env environ.Env, src *git.Source, id string) (issue.Issue, error) {
	_, where, why, err := issue.Query{Id: id, Online: true}.Find(env, src)
	switch {
	case err != nil:
		return issue.Issue{}, err
	case where == nil:
		return issue.Issue{}, exit.Usagef("%s", why)
	}
	return where.Read(ctx, env)
}

// OlderPrefix begins the names of the older system's own branches.
const OlderPrefix = "ai-workflow/issue-"

// Find reads the older run that the command line names, from its branch.
func (o Options) Find(ctx context.Context, env environ.Env, src *git.Source) (*olderRun, error) {
	old := &olderRun{Base: cmp.Or(o.Branch, OlderPrefix+o.Id), Top: olderFolder + "/issue-" + o.Id}
	old.Name = old.Base + ":" + old.Top + "/" + metadata.File
	files, err := src.FS(ctx, old.Base, old.Top)
	var data []byte
	if files != nil && err == nil {
		old.files = files
		data, err = fs.ReadFile(files, metadata.File)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && files == nil:
		return nil, exit.Usagef("there is no %s, here or fetched from origin: name the branch that has the older run with --from BRANCH", old.Name)
	case err != nil:
		return nil, err
	}
	if err := old.parse(data); err != nil {
		return nil, exit.AsUsage(err)
	}
	if id := string(old.Issue); o.Id != id {
		return nil, exit.Usagef("%s is of issue %s, not of %s", old.Name, id, o.Id)
	}
	return old, old.welcome(ctx, env, src)
}

// maxOlderFile is the most that is taken over of an artifact or a review, in bytes.
const maxOlderFile = 4 << 20

// document is a file of an older phase.
type document struct {
	path string // from the top of the repository
	data []byte
}

// documents lists the Markdown files that an older phase wrote and that are not empty, the artifact first.
func (old *olderRun) documents(phase string, listed []string) (out []document, err error) {
	names, err := fs.Glob(old.files, "*/output/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		full := path.Join(old.Top, name)
		if !ofPhase(name, phase) || metadata.CheckPath(full) != nil {
			continue
		}
		data, err := readOlder(old.files, name)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(data)) != "" {
			out = append(out, document{full, data})
		}
	}
	rank := func(d document) int {
		switch {
		case slices.ContainsFunc(listed, func(l string) bool { return strings.HasSuffix(l, d.path) }):
			return 0
		case strings.HasPrefix(plainName(d.path), phase):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b document) int { return cmp.Compare(rank(a), rank(b)) })
	return out, nil
}

// review gives the newest review of an older phase, empty if there is none.
func (old *olderRun) review(phase string) (string, error) {
	names, err := fs.Glob(old.files, "*/review/result.md")
	for _, name := range names {
		if ofPhase(name, phase) {
			data, err := readOlder(old.files, name)
			return strings.ToValidUTF8(strings.TrimSpace(string(data)), "\uFFFD"), err
		}
	}
	return "", err
}

// ofPhase reports whether a file is in the folder of a phase, such as 03_test_scenario.
func ofPhase(name, phase string) bool {
	folder, _, _ := strings.Cut(name, "/")
	_, of, _ := strings.Cut(folder, "_")
	return plainName(of) == phase
}

// readOlder reads a file that is not too large to be kept. A link is none.
func readOlder(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	switch {
	case err != nil:
		return nil, err
	case info.Size() > maxOlderFile:
		return nil, exit.Usagef("%s has %d bytes; the limit is %d: make it smaller, or take it away", name, info.Size(), maxOlderFile)
	}
	return fs.ReadFile(files, name)
}

// plainName gives the name of a file or folder without its ending, spelt as
// phases are.
func plainName(p string) string {
	base := path.Base(p)
	return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(base, path.Ext(base))), "-", "_")
}

// Tell says what was taken over, what was not and why, and how to go on.
func Tell(old *olderRun, o Options, w *workspace.Workspace) error {
	if o.Json {
		out := map[string]any{
			"dry_run": o.Dry, "issue": w.Run.IssueNumber, "from": old.Name, "branch": w.Run.BranchName, "base_commit": w.Run.BaseCommit,
			"pushed": w.Push && !o.Dry, "status": w.Run.Status, "phases": old.taken, "dropped": text.List(old.Notes),
		}
		if !o.Dry {
			out["head_sha"] = w.Repo.Tip()
		}
		return text.PrintJSON(w.Env.Stdout, out)
	}
	r := terminal.NewReport(w.Env.Stdout, terminal.ShowOptions(w.Env))
	r.Titled(phases.On(w.Plan, w.Run))
	r.Line("%s", "from "+text.Flat(old.Name))
	r.Line("")
	r.Table(old.table(), "")
	r.Line("")
	r.Line("%s spent", text.USD(w.Run.Cost.USD))
	if len(old.Notes) > 0 {
		r.Heading("Not taken over as it was")
		for _, n := range old.Notes {
			r.Line("  %s: %s", text.Flat(n.What), text.Flat(n.Why))
		}
	}
	r.Line("")
	if o.Dry {
		r.Line("Dry run: nothing was changed.")
		return nil
	}
	r.Line("Branch %s at %.12s. It starts where the older branch ends, which stays as it is.", w.Run.BranchName, w.Repo.Tip())
	goOn(r, w.Run, old)
	return nil
}

// table shows what became of each phase.
func (old *olderRun) table() *text.Table {
	out := &text.Table{}
	out.Add("", "phase", "was", "is", "artifact")
	for _, p := range old.taken {
		files := slices.Sorted(maps.Keys(p.Artifacts))
		for i, f := range files {
			files[i] = strings.TrimPrefix(f, old.Top+"/")
		}
		out.Add(view.Sign(p.Status), text.Flat(p.Name), text.Words(p.Was), text.Words(p.Status), text.Flat(strings.Join(files, " ")))
	}
	return out
}

// goOn says what can be done now.
func goOn(r terminal.Report, run metadata.Run, old *olderRun) {
	id := run.IssueNumber
	if run.Status == metadata.Completed {
		r.Line("Every phase is done. To take one back: reprise rollback --issue %s --to-phase PHASE --reason TEXT", id)
	} else {
		r.Line("Go on with: reprise run --issue %s", id)
	}
	// A branch that does not start from the older one cannot be pushed over it.
	if head := old.Branch; run.PRNumber > 0 && head == old.Base && head != "" && head != run.BranchName {
		r.Line("Pull request %d shows %s. For it to show what comes now, too: git push origin heads/%s:heads/%s", run.PRNumber, text.Flat(head), run.BranchName, text.Flat(head))
	}
}
