package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Places are what Open can find.
func Places() []string { return []string{"artifact", "branch", "issue", "pr", "report"} }

// placeOf gives the path or the address where something of a run can be looked at. A report is written first; an
// artifact is that of a phase, by default of the newest that has one.
func placeOf(ctx context.Context, r *workspace.Recorded, what, phase string) (string, error) {
	id := text.Flat(r.Run.IssueNumber)
	switch what {
	case "artifact":
		return artifact(ctx, r, phase)
	case "branch":
		if site := website(r); site != "" {
			return site + "/tree/" + (&url.URL{Path: r.Run.BranchName}).EscapedPath(), nil
		}
		return r.Run.BranchName, nil
	case "issue":
		if r.Run.IssueURL == "" {
			return "", exit.Usagef("issue %s came from a file, so it has no address; its text is in %s/%s on the branch of the run", id, phases.Folder(id), phases.IssueFile)
		}
		return r.Run.IssueURL, nil
	case "report":
		return writeReport(ctx, r)
	case "pr":
		if r.Run.PRURL == "" {
			return "", exit.Usagef("the run of issue %s has no pull request", id)
		}
		return r.Run.PRURL, nil
	}
	return "", exit.Usagef("there is no %q to open; there are: %s", what, strings.Join(Places(), ", "))
}

// artifact finds what a phase has written: here, else on the website of the forge.
func artifact(ctx context.Context, r *workspace.Recorded, phase string) (string, error) {
	if err := (Part{Phase: phase}).lacking(r.Run); err != nil {
		return "", err
	}
	var found *metadata.Phase
	for i := range r.Run.Phases {
		p := &r.Run.Phases[i]
		if len(p.OutputFiles) > 0 && (phase == "" || p.Name == phase) {
			found = p
		}
	}
	if found == nil {
		return "", exit.Usagef("the run of issue %s has no artifact%s yet", text.Flat(r.Run.IssueNumber), text.Prefixed(" of phase ", phase))
	}
	file := found.OutputFiles[0]
	tops := []string{}
	if root, err := workspace.HomeFolder(r.Env, r.Source, r.Issue.ID); err == nil {
		tops = append(tops, filepath.Join(root, "tree"))
	}
	if r.Source.Branch == r.Run.BranchName {
		tops = append(tops, r.Source.Dir)
	}
	for _, top := range tops {
		if isFile(top, file) {
			return filepath.Join(top, filepath.FromSlash(file)), nil
		}
	}
	at := r.Ref()
	if _, err := r.Source.ReadFile(ctx, at, file); errors.Is(err, fs.ErrNotExist) { // the folder was taken off the branch
		if commit, err := r.Source.Shelf(ctx, at, phases.Folder(r.Run.IssueNumber)); err == nil {
			at = commit
		}
	}
	if site := website(r); site != "" {
		return site + "/blob/" + (&url.URL{Path: at + "/" + file}).EscapedPath(), nil
	}
	if here, err := r.Source.Has(ctx, at); at == r.Run.BranchName && err == nil && !here {
		at = "origin/" + at
	} else if here {
		at = r.Source.Name(ctx, at)
	}
	return "", exit.Usagef("%s is not checked out on this machine; read it with: git show %s:%s", text.Flat(file), at, text.Flat(file))
}

// isFile reports whether there is an ordinary file, to which no link leads: an agent may have written in that folder.
func isFile(top, file string) bool {
	root, err := os.OpenRoot(top)
	if err != nil {
		return false
	}
	defer root.Close()
	f, _, err := folders.Open(root, file)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// website is the address in a browser of the repository that the run's branch is in, or "".
func website(r *workspace.Recorded) string {
	if !r.Run.Execution.Push || r.Gone {
		return ""
	}
	if site, _, is := strings.Cut(r.Run.IssueURL, "/issues/"); is && strings.HasPrefix(site, "https://") {
		return site
	}
	name := cmp.Or(r.Source.GitHub, r.Run.Repository)
	host := git.Host(r.Source.RemoteURL)
	if name == "" || host == "" {
		return ""
	}
	return "https://" + host + "/" + name
}

// opens reports whether the program of the desktop may be given a path or an address:
// what a run names was written by others, so it gets web pages and plain text alone.
func opens(place string) bool {
	if u, err := url.Parse(place); err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil {
		return true
	}
	switch strings.ToLower(filepath.Ext(place)) {
	case ".md", ".txt", ".json":
		return filepath.IsAbs(place)
	}
	return false
}

// Sought is what Open looks for.
type Sought struct {
	What  string // one of Places; "": the pull request, or the report where there is none
	Phase string // whose artifact it is; "": the newest that has one
	JSON  bool   // print an object, and open nothing
}

// Open prints where something of a run is, and opens it if it is printed on a terminal.
func Open(ctx context.Context, r *workspace.Recorded, s Sought) error {
	what := s.What
	if what == "" {
		what = "report"
		if r.Run.PRURL != "" {
			what = "pr"
		}
	}
	place, err := placeOf(ctx, r, what, s.Phase)
	if err != nil {
		return err
	}
	if s.JSON {
		return text.PrintJSON(r.Env.Stdout, map[string]string{"what": what, "place": place})
	}
	if _, err := fmt.Fprintln(r.Env.Stdout, text.Visible(place)); err != nil || !environ.IsTerminal(r.Env.Stdout) || what != "report" && !opens(place) {
		return err
	}
	return openOnDesktop(ctx, r.Env, place)
}

// openOnDesktop has the desktop open a file or an address.
func openOnDesktop(ctx context.Context, env environ.Env, place string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	} else if env.Getenv("DISPLAY")+env.Getenv("WAYLAND_DISPLAY")+env.Getenv("BROWSER") == "" {
		return nil
	}
	if _, err := exec.LookPath(program); err != nil {
		return nil
	}
	if out, err := exec.CommandContext(ctx, program, place).CombinedOutput(); err != nil {
		return fmt.Errorf("%s could not open it: %s", program, text.Join(": ", err.Error(), text.Cut(text.Flat(string(out)), 300)))
	}
	return nil
}

// writeReport writes the page of a run beside the folders that it has on this machine.
func writeReport(ctx context.Context, r *workspace.Recorded) (string, error) {
	root, err := workspace.HomeFolder(r.Env, r.Source, r.Issue.ID)
	if err != nil {
		return "", err
	}
	page, err := Page(ctx, r)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", err
	}
	file := filepath.Join(root, "report.html")
	return file, SavePage(file, page)
}
