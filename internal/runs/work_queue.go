package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// queue gives the issues that there are now, and what a person should know of them.
type queue func(ctx context.Context) (items []*item, notes []string, err error)

// oddly says of a label that was meant to be a priority that it is none.
func oddly(id, label string) string {
	return fmt.Sprintf("issue %s: the label %q is no priority, such as P1 or \"priority: high\": it comes last", id, label)
}

// FolderQueue has the issue files of a folder: those that end in .md, .markdown or .txt and are not hidden.
func FolderQueue(env environ.Env, dir string) queue {
	return func(context.Context) (items []*item, notes []string, err error) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, nil, exit.Usagef("the folder of issues: %w", err)
		}
		files := map[string]string{} // by id
		for _, e := range entries {
			if e.IsDir() || strings.HasPrefix(e.Name(), ".") || !slices.Contains([]string{".md", ".markdown", ".txt"}, strings.ToLower(filepath.Ext(e.Name()))) {
				continue
			}
			name := filepath.Join(dir, e.Name())
			is, err := issue.ReadFile(name, nil)
			is.Mask(env)
			is.Clean()
			it := &item{Run: Run{Issue: is.ID, Title: text.OneLine(is.Title)}, priority: is.Priority, after: is.DependsOn, args: []string{"--issue-file", name}}
			switch other := files[is.ID]; {
			case err != nil:
				it.Issue, it.wrong = e.Name(), err.Error()
			case other != "":
				i := slices.IndexFunc(items, func(it *item) bool { return it.Issue == is.ID })
				items[i].wrong = fmt.Sprintf("%s and %s both have the id %s: name one of them otherwise, or give it a number of its own in its front matter", other, e.Name(), is.ID)
				continue
			default:
				files[is.ID] = e.Name()
				if is.OddPriority != "" {
					notes = append(notes, oddly(is.ID, is.OddPriority))
				}
			}
			items = append(items, it)
		}
		if len(items) == 0 {
			notes = append(notes, fmt.Sprintf("%s has no issue file, such as 7.md", dir))
		}
		return items, notes, nil
	}
}

// ForgeQueue has the open issues on the forge of origin that have all of some labels, or that a search finds.
func ForgeQueue(env environ.Env, src *git.Source, labels []string, search string) (queue, error) {
	f, err := issue.ForgeOf(env)
	switch {
	case err != nil:
		return nil, err
	case src.GitHub == "" || !f.Serves(src.RemoteURL):
		return nil, exit.Usagef("issues are listed where origin is, and that is no OWNER/REPO at %s: go to a clone of one, set GITHUB_API_URL, or name a folder of issue files", f.Host)
	}
	gh, err := issue.Client(env, f, f.Token, env.Stderr)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	return func(ctx context.Context) (items []*item, notes []string, err error) {
		all, more, err := gh.In(src.GitHub).OpenIssues(ctx, labels, search)
		if err != nil {
			return nil, nil, err
		}
		for _, is := range all {
			priority, odd := issue.PriorityOf(is.Labels)
			it := &item{Run: Run{Issue: strconv.Itoa(is.Number), Title: text.OneLine(env.Finder().Mask(is.Title))}, priority: priority, args: []string{"--issue", strconv.Itoa(is.Number)}}
			if odd != "" {
				notes = append(notes, oddly(it.Issue, odd))
			}
			if is.Locked {
				it.wrong = "it is locked: unlock it, or take another"
			}
			if is.BlockedBy > 0 {
				it.blocked = []string{fmt.Sprintf("%s on GitHub that are open", text.Plural(is.BlockedBy, "issue"))}
			}
			items = append(items, it)
		}
		which := text.If(search != "", "that the query "+strconv.Quote(search)+" finds") + text.If(search == "", "with the label "+strings.Join(labels, " and "))
		switch {
		case more:
			notes = append(notes, fmt.Sprintf("%s has more than %d open issues %s: these are the oldest %[2]d, and others come when those are closed or lose the label", src.GitHub, len(items), which))
		case len(items) == 0:
			notes = append(notes, fmt.Sprintf("%s has no open issue %s", src.GitHub, which))
		}
		return items, notes, nil
	}, nil
}

// BegunQueue has the runs that have stopped in the middle by now, because they were interrupted or killed.
func BegunQueue(env environ.Env, repo string) queue {
	var items []*item
	return func(ctx context.Context) (_ []*item, notes []string, err error) {
		if items != nil {
			return slices.Clone(items), nil, nil
		}
		src, err := git.Find(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		all, broken := List(ctx, env, src)
		for _, r := range all {
			if r.Status == metadata.Running || r.Status == metadata.Interrupted || Unpushed(r.Record) {
				items = append(items, &item{Run: r, args: []string{"--issue", r.Issue}})
			}
		}
		if joined, is := errors.AsType[interface {
			error
			Unwrap() []error
		}](broken); is {
			for _, err := range joined.Unwrap() {
				notes = append(notes, err.Error())
			}
		} else if broken != nil {
			return nil, nil, broken
		}
		return slices.Clone(items), notes, nil
	}
}
