package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writable looks at whether the repository takes commits.
func (d *doctor) writable(context.Context) []check {
	if d.src == nil {
		return nil
	}
	for _, dir := range []string{d.src.CommonDir, filepath.Join(d.src.CommonDir, "objects"), filepath.Join(d.src.CommonDir, "refs")} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return []check{lacking("repository", fmt.Sprintf("nothing can be written in %s (%v), so a run could commit nothing", dir, err), "change its rights or its owner")}
		}
	}
	return nil
}

// lost finds runs of this repository whose folders have got to commits that
// are not in it any more.
func (d *doctor) lost(ctx context.Context) []check {
	if d.src == nil {
		return nil
	}
	one, err := rootOf(d.env, d.src, "any")
	if err != nil {
		return nil // the check of the folder says so
	}
	runs, err := os.ReadDir(filepath.Dir(one))
	if err != nil {
		return nil // there is none yet
	}
	var checks []check
	for _, run := range runs {
		root := filepath.Join(filepath.Dir(one), run.Name())
		commit, err := d.src.Lost(ctx, root, d.env.branch(run.Name()))
		switch {
		case err != nil:
			checks = append(checks, hinted("folder", fmt.Sprintf("%s: %v", root, err), ""))
		case commit != "":
			checks = append(checks, hinted("folder", fmt.Sprintf("%s had got to commit %.12s, which is not in this repository any more", root, commit), "the next start makes the folder anew"))
		}
	}
	return checks
}
