package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// maxJudged is how much of staged files is held in memory at once, in bytes,
// and the size of the largest file that can be judged.
const maxJudged = maxState

// judge has everything judged that ops take from the work tree.
func (r *Repo) judge(ctx context.Context, c Commit, ops []op) error {
	var staged []op
	for _, o := range ops {
		if _, given := c.Files[o.path]; o.kind == 'M' && !given {
			staged = append(staged, o)
		}
	}
	sizes, err := r.sizes(ctx, staged)
	if err != nil {
		return err
	}
	for len(staged) > 0 {
		n, total := 0, 0
		for n < len(staged) && (n == 0 || total+sizes[n] <= maxJudged) {
			total += sizes[n]
			n++
		}
		if total > maxJudged {
			return fmt.Errorf("%s has %d bytes, at most %d can be looked through", staged[0].path, total, maxJudged)
		}
		if err := r.judgeSome(ctx, c, staged[:n]); err != nil {
			return err
		}
		staged, sizes = staged[n:], sizes[n:]
	}
	return nil
}

// sizes asks for the sizes of what is staged, in bytes.
func (r *Repo) sizes(ctx context.Context, staged []op) ([]int, error) {
	var asked []byte
	for _, o := range staged {
		if !o.inline {
			asked = append(asked, o.id+"\n"...)
		}
	}
	var lines []string
	if len(asked) > 0 {
		out, err := r.gitStdin(ctx, asked, "cat-file", "--batch-check=%(objectsize)")
		if err != nil {
			return nil, err
		}
		lines = strings.Split(string(out), "\n")
	}
	sizes := make([]int, len(staged))
	for i, o := range staged {
		if o.inline {
			sizes[i] = len(o.data)
			continue
		}
		size, err := strconv.Atoi(lines[0])
		if err != nil {
			return nil, fmt.Errorf("%s: git says of its size: %q", o.path, lines[0])
		}
		sizes[i], lines = size, lines[1:]
	}
	return sizes, nil
}

func (r *Repo) judgeSome(ctx context.Context, c Commit, staged []op) error {
	var names []string
	for _, o := range staged {
		if !o.inline {
			names = append(names, o.id)
		}
	}
	var objects []object
	if len(names) > 0 {
		var err error
		if objects, err = catFile(ctx, r.gitStdin, names); err != nil {
			return err
		}
	}
	for _, o := range staged {
		s := Staged{Path: o.path, Type: typeOfMode(o.mode), Data: o.data}
		if strings.Trim(o.was, "0") != "" {
			s.Was = typeOfMode(o.was)
		}
		if !o.inline {
			s.Data, objects = objects[0].data, objects[1:]
		}
		if err := c.Judge(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
