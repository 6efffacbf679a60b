package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// leftover is what a run has left on this machine besides its branch.
type leftover struct {
	Issue   string   `json:"issue"` // or the name of a slot, such as @1
	Why     string   `json:"why"`   // completed, cancelled, or gone: it has no branch any more; caches: of a slot
	Folders []string `json:"folders"`
	Bytes   uint64   `json:"bytes"`
}

// leftovers gives what can be removed because its run is done or gone; with an id only that of one run. What runs share is
// among it if there is no other run here.
// A run that cannot be read keeps what it has, and is in the error.
func leftovers(ctx context.Context, env environ.Env, src *git.Source, id string) ([]leftover, error) {
	one, err := workspace.HomeFolder(env, src, "any")
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(filepath.Dir(one))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	branches, err := byIssue(ctx, env, src)
	if err != nil {
		return nil, err
	}
	all, broken, open := []leftover{}, []error(nil), 0
	slices.SortStableFunc(entries, func(a, b fs.DirEntry) int { // what runs share comes behind them
		return text.Count(workspace.IsSlot(a.Name())) - text.Count(workspace.IsSlot(b.Name()))
	})
	for _, e := range entries {
		name := e.Name()
		root := filepath.Join(filepath.Dir(one), name)
		slot := workspace.IsSlot(name)
		if !e.IsDir() || !slot && metadata.CheckID(name) != nil || id != "" && id != name {
			continue
		}
		why, err := overWhy(branches[name])
		if slot {
			why, err = text.If(open == 0 && folders.Holder(root) == 0, "caches"), nil
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("issue %s: %w", name, err))
		}
		if why == "" {
			open++
			continue
		}
		l := leftover{Issue: name, Why: why, Folders: append([]string{root}, temporary(root)...)}
		for _, dir := range l.Folders {
			l.Bytes += size(dir)
		}
		all = append(all, l)
	}
	return all, errors.Join(broken...)
}

// overWhy says why a run is over, or "".
func overWhy(refs []workspace.RefRun) (string, error) {
	if len(refs) == 0 {
		return "gone", nil
	}
	run, _, err := newest(refs)
	if run.Status == metadata.Completed || run.Status == metadata.Cancelled {
		return string(run.Status), err
	}
	return "", err
}

// temporary gives the temporary folders that calls of a run have left.
func temporary(root string) []string {
	all, err := filepath.Glob(filepath.Join(os.TempDir(), workspace.TempMark(filepath.Join(root, "tree"))+"*"))
	if err != nil {
		return nil // unreachable unless the folder's own name is a pattern; the system removes what is left
	}
	return slices.DeleteFunc(all, func(name string) bool {
		info, err := os.Lstat(name)
		return err != nil || !info.IsDir()
	})
}

// size adds up the files in a folder, as far as it can be read.
func size(dir string) (bytes uint64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be read does not count
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += uint64(info.Size())
		}
		return nil
	})
	return bytes
}

// Cleaning says what Clean does.
type Cleaning struct {
	Issue string // only what this run has left; "" for all runs
	Yes   bool   // without asking
	JSON  bool
}

// Clean says what runs that are over have left here, and removes it if a person agrees.
func Clean(ctx context.Context, env environ.Env, src *git.Source, c Cleaning) error {
	all, broken := leftovers(ctx, env, src, c.Issue)
	if c.JSON { // without Yes nothing is removed
		removed, failed := uint64(0), error(nil)
		if c.Yes {
			removed, failed = remove(ctx, all)
		}
		return errors.Join(broken, failed, text.PrintJSON(env.Stdout, map[string]any{"leftovers": all, "removed_bytes": removed}))
	}
	if len(all) == 0 {
		_, _ = fmt.Fprintln(env.Stdout, "There is nothing to remove.")
		return broken
	}
	out := terminal.NewReport(env.Stdout, terminal.ShowOptions(env))
	t, sum := text.Table{Align: "llr"}, uint64(0)
	t.Add("issue", "run is", "size", "folder")
	for _, l := range all {
		sum += l.Bytes
		t.Add(text.Flat(l.Issue), l.Why, sandbox.Size(l.Bytes), text.Flat(l.Folders[0]))
	}
	out.Fitted(&t, nil)
	out.Line("%s in all. Branches and records stay.", sandbox.Size(sum))
	if !c.Yes {
		if !environ.IsTerminal(env.Stdin) {
			return errors.Join(broken, exit.Usagef("nothing was removed: to remove it, add --yes"))
		}
		if yes, err := env.Agrees(env.Stdout, "Remove it? [y/N] "); err != nil || !yes {
			out.Line("Nothing was removed.")
			return errors.Join(broken, err)
		}
	}
	removed, failed := remove(ctx, all)
	if removed > 0 {
		out.Line("Removed %s.", sandbox.Size(removed))
	}
	return errors.Join(broken, failed)
}

// remove removes what runs have left, but for those that a process works on, and says how much that was.
func remove(ctx context.Context, all []leftover) (bytes uint64, failed error) {
	for _, l := range all {
		held, err := folders.TakeLock(ctx, l.Folders[0])
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		for _, dir := range slices.Backward(l.Folders) { // the one with the lock goes last
			if wrong := folders.RemoveAll(dir); wrong != nil {
				err = errors.Join(err, fmt.Errorf("remove %s: %w", dir, wrong))
			}
		}
		_ = held.Close() // its file may be gone
		if failed = errors.Join(failed, err); err == nil {
			bytes += l.Bytes
		}
	}
	return bytes, failed
}
