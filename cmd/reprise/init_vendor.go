package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
)

// takeOthers takes pipelines, prompts and packages of other repositories, or shows what that would change.
func takeOthers(ctx context.Context, env environ.Env, root *os.Root, o initOptions) error {
	all, err := setup.Origins(root.FS())
	if err != nil {
		return err
	}
	first := 0
	if o.from != "" {
		one, err := setup.ParseOrigin(o.from)
		if err != nil {
			return exit.Usagef("--from: %w", err)
		}
		if i := slices.IndexFunc(all, func(other setup.Origin) bool { return other.From == one.From && other.Folder == one.Folder }); i >= 0 {
			one.Files = all[i].Files
			all = slices.Delete(all, i, i+1)
		}
		first, all = len(all), append(all, one)
	}
	if len(all) == 0 {
		return exit.Usagef("--upgrade: nothing here was taken from others, as --from SOURCE does")
	}
	var changes []setup.VendorChange
	var told strings.Builder
	for i, from := range all[first:] {
		commit, files, err := git.FetchFiles(ctx, root.Name(), from.From, from.Ref, from.Folder)
		if err != nil {
			return err
		}
		now, some, err := from.Update(root, commit, files)
		if err != nil {
			return err
		}
		fmt.Fprintf(&told, "%s:%s@%s, commit %.10s: %s\n", now.From, now.Folder, now.Ref, now.Commit, text.Plural(len(some), "change"))
		for _, c := range some {
			fmt.Fprintf(&told, "  %s: %s\n", c.Name, c.Stat)
		}
		all[first+i], changes = now, append(changes, some...)
	}
	altered := slices.ContainsFunc(changes, func(c setup.VendorChange) bool { return c.Altered })
	switch shown := o.upgrade && !o.force; {
	case o.dry || shown:
		told.WriteString("Nothing was written." + text.If(shown && len(changes) > 0, " To take this: reprise init --upgrade --force"))
	case altered && !o.force:
		err = errors.New("some files here are not as taken from there; --force writes over them")
	default:
		if err = setup.WriteVendor(root, all, changes); err != nil {
			return err
		}
		told.WriteString("What counts is the commit: git add .github && git commit -m \"Take what others have written\"")
	}
	_, unsaid := fmt.Fprintln(env.Stdout, strings.TrimSpace(text.Visible(told.String())))
	return errors.Join(err, text.Unread(unsaid))
}
