package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// Log lists the branch's commits that from lacks, newest first; "" for all. Of a merge it follows the first parent.
func (r *Repo) Log(ctx context.Context, from string) ([]LogEntry, error) {
	return r.log(ctx, from, "--first-parent")
}

// Ancestry is Log with everything that was merged.
func (r *Repo) Ancestry(ctx context.Context, from string) ([]LogEntry, error) {
	return r.log(ctx, from, "--topo-order")
}

func (r *Repo) log(ctx context.Context, from, order string) (_ []LogEntry, err error) {
	defer wrap(&err, "list the commits of %s", r.opt.Branch)
	span := r.tip
	if from != "" {
		if err := r.need(ctx, from); err != nil {
			return nil, err
		}
		span = from + ".." + r.tip
	}
	out, err := r.git(ctx, logArgs(order, span)...)
	return parseLog(out), err
}

// Holds reports whether any file of the last commit has a text, however lines end.
func (r *Repo) Holds(ctx context.Context, text string) (_ bool, err error) {
	defer wrap(&err, "look for a text in the last commit")
	wanted := unixLines([]byte(text))
	lines := strings.FieldsFunc(string(wanted), func(c rune) bool { return c == '\n' })
	if len(lines) == 0 || bytes.IndexByte(wanted, 0) >= 0 {
		return false, errors.New("it is empty, or has a zero byte")
	}
	// On standard input, so that no list of processes shows the text.
	asked := []byte(strings.Join(lines, "\n") + "\n")
	out, err := r.gitStdin(ctx, asked, "grep", "--files-with-matches", "-z", "--text", "--fixed-strings", "--all-match", "--no-recurse-submodules", "-f", "-", r.tip, "--")
	if err != nil && exitCode(err) != 1 {
		return false, err
	}
	for _, name := range records(out) { // which have all the lines, in whatever order
		data, err := r.ReadFile(ctx, r.tip, strings.TrimPrefix(name, r.tip+":"))
		if err != nil {
			return false, err
		}
		if bytes.Contains(unixLines(data), wanted) {
			return true, nil
		}
	}
	return false, nil
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// shelfOf gives the commit that has the state folder of a commit of the branch, or "".
func (r *Repo) shelfOf(ctx context.Context, commit string) (string, error) {
	if r.isNew { // what it starts from may hold a run that was merged
		return "", nil
	}
	s := shelves{reader: r.reads(), folder: r.opt.State, kept: r.keptRecord}
	if r.remote != nil {
		s.own = func(ctx context.Context, commit string) (bool, error) {
			kept, err := r.src.kept(ctx, r.keepRef())
			if kept == "" || err != nil {
				return false, err
			}
			return r.contains(ctx, kept, commit)
		}
	}
	return s.find(ctx, commit)
}

// Recorded reports whether the record may be from a commit or lead on from it. With the state folder off the branch
// that is the record's history, and the commit that took it off; any other record was put there by others.
func (r *Repo) Recorded(ctx context.Context, c LogEntry) (bool, error) {
	if r.shelf == "" {
		return true, nil
	}
	if is, err := r.contains(ctx, r.shelf, c.Commit); is || err != nil || len(c.Parents) == 0 {
		return is, err
	}
	if found, err := r.lookUp(ctx, c.Commit+":"+r.opt.State); err != nil || found[0].Kind != "" {
		return false, err
	}
	return r.contains(ctx, r.shelf, c.Parents[0])
}

// SameWork reports whether two commits are the same but for the state folder.
func (r *Repo) SameWork(ctx context.Context, one, other string) (bool, error) {
	paths, err := r.between(ctx, one, other)
	return !slices.ContainsFunc(paths, func(p string) bool { return !Under(p, r.opt.State) }), err
}

// keptRecord gives the commit that Options.Keep names, at the remote if any; "" for none. It is asked once a fetch.
func (r *Repo) keptRecord(ctx context.Context) (string, error) {
	if r.keptKnown || r.opt.Keep == "" {
		return r.kept, nil
	}
	var err error
	if r.remote == nil {
		r.kept, err = r.src.kept(ctx, r.keepRef())
	} else if r.kept, err = r.fetchRef(ctx, r.keepRef(), "refs/reprise/record"); noSuchRef(err) {
		err = nil
	}
	r.keptKnown = err == nil
	return r.kept, err
}

func (r *Repo) keepRef() string { return KeptRefs + r.opt.Keep }

// ReadFile returns a file in a commit, a full hash; of a state folder taken off the branch, as it was before that.
// The error wraps fs.ErrNotExist when there is no such commit or file.
func (r *Repo) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	if commit == r.tip && r.state != nil && Under(path, r.opt.State) {
		return r.readAt(ctx, r.Record(), path)
	}
	data, err := r.readAt(ctx, commit, path)
	if !errors.Is(err, fs.ErrNotExist) || !Under(path, r.opt.State) {
		return data, err
	}
	has, e := r.shelfOf(ctx, commit)
	if e == nil && has != "" && has != commit {
		return r.readAt(ctx, has, path)
	}
	return nil, cmp.Or(e, err) // not both: where git failed, nobody knows whether there is such a file
}

// ReadState reads files of the state folder as they are at the tip, each nil where there is none.
func (r *Repo) ReadState(ctx context.Context, paths ...string) ([][]byte, error) {
	if err := r.need(ctx, r.Record()); err != nil {
		return nil, err
	}
	return r.reads().files(ctx, r.Record(), paths...)
}

// LogEntry is one commit.
type LogEntry struct {
	Commit   string // full hash
	Parents  []string
	Subject  string
	Trailers []Trailer // in their order
}

// Trailer is a line such as "Reprise-Phase: design" at the end of a message.
type Trailer struct{ Key, Value string }

// logArgs list the commits of a span, which is a commit or A..B; order is an option of git log.
func logArgs(order, span string) []string {
	return []string{
		"log", "-z", order, "--no-color", "--no-show-signature", "--no-decorate",
		"--format=%H%x00%P%x00%s%x00%(trailers:only,unfold)", span, "--",
	}
}

// parseLog reads what git prints with logArgs.
func parseLog(out []byte) []LogEntry {
	var entries []LogEntry
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 4; fields = fields[4:] {
		entries = append(entries, LogEntry{Commit: fields[0], Parents: strings.Fields(fields[1]), Subject: fields[2], Trailers: trailers(fields[3])})
	}
	return entries
}

func trailers(text string) []Trailer {
	var out []Trailer
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out = append(out, Trailer{Key: key, Value: strings.TrimSpace(value)})
		}
	}
	return out
}
