package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
)

// Log lists the commits of the branch that the commit from has not, newest
// first; with "" all of them. Of a merge it goes on with the first parent alone.
func (br *runBranch) Log(ctx context.Context, from string) ([]LogEntry, error) {
	return br.log(ctx, from, "--first-parent")
}

// Ancestry is Log with everything that was merged.
func (br *runBranch) Ancestry(ctx context.Context, from string) ([]LogEntry, error) {
	return br.log(ctx, from, "--topo-order")
}

func (br *runBranch) log(ctx context.Context, from, order string) ([]LogEntry, error) {
	span := br.tip
	if from != "" {
		if err := br.need(ctx, from); err != nil {
			return nil, err
		}
		span = from + ".." + br.tip
	}
	out, err := br.git(ctx, logArgs(order, span)...)
	entries, bad := parseLog(out)
	if err := errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", br.opt.Branch, err)
	}
	return entries, nil
}

// Holds reports whether any file of the last commit has a text. Both ways to
// end a line are the same.
func (br *runBranch) Holds(ctx context.Context, text string) (bool, error) {
	found, err := br.holds(ctx, unixLines([]byte(text)))
	if err != nil {
		return false, fmt.Errorf("look for a text in the last commit: %w", err)
	}
	return found, nil
}

func (br *runBranch) holds(ctx context.Context, text []byte) (bool, error) {
	lines := strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	if len(lines) == 0 || bytes.IndexByte(text, 0) >= 0 {
		return false, errors.New("it is empty, or has a zero byte")
	}
	show := "--files-with-matches"
	if len(lines) == 1 {
		show = "--quiet" // one is enough
	}
	// On standard input, so that no list of processes shows the text.
	asked := []byte(strings.Join(lines, "\n") + "\n")
	out, err := br.gitStdin(ctx, asked, "grep", show, "-z", "--text", "--fixed-strings", "--all-match", "--no-recurse-submodules", "-f", "-", br.tip, "--")
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil || len(lines) == 1 {
		return err == nil, err
	}
	for _, name := range records(out) { // which have all the lines, in whatever order
		data, err := br.ReadFile(ctx, br.tip, strings.TrimPrefix(name, br.tip+":"))
		if err != nil {
			return false, err
		}
		if bytes.Contains(unixLines(data), text) {
			return true, nil
		}
	}
	return false, nil
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }

// shelfOf gives the commit that has the state folder of a commit of the branch,
// or "".
func (br *runBranch) shelfOf(ctx context.Context, commit string) (string, error) {
	if br.isNew { // what it starts from may hold a run that was merged
		return "", nil
	}
	s := shelves{reader: br.reads(), folder: br.opt.State, kept: br.keptRecord}
	if br.remote != nil {
		s.own = func(ctx context.Context, commit string) (bool, error) {
			kept, err := br.keptHere(ctx)
			if kept == "" || err != nil {
				return false, err
			}
			return br.contains(ctx, kept, commit)
		}
	}
	return s.find(ctx, commit)
}

// keptHere gives what Options.Keep names in the user's repository; "" for none.
func (br *runBranch) keptHere(ctx context.Context) (string, error) {
	kept, err := br.src.resolve(ctx, br.keepRef())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return kept, err
}

// Recorded reports whether the record may be from a commit or lead on from it. Where the state
// folder was taken off the branch that is what the record has in its history, and the commit
// that took it off; anything else with a record was put on the branch by others.
func (br *runBranch) Recorded(ctx context.Context, c LogEntry) (bool, error) {
	if br.shelf == "" {
		return true, nil
	}
	if is, err := br.contains(ctx, br.shelf, c.Commit); is || err != nil || len(c.Parents) == 0 {
		return is, err
	}
	if found, err := br.lookUp(ctx, c.Commit+":"+br.opt.State); err != nil || found[0].Kind != "" {
		return false, err
	}
	return br.contains(ctx, br.shelf, c.Parents[0])
}

// SameWork reports whether two commits are the same but for the state folder.
func (br *runBranch) SameWork(ctx context.Context, one, other string) (bool, error) {
	paths, err := br.between(ctx, one, other)
	return !slices.ContainsFunc(paths, func(p string) bool { return !Under(p, br.opt.State) }), err
}

// keptRecord gives the commit that Options.Keep names, at the remote if there is one;
// "" for none. It is asked for once, and again when the branch is fetched.
func (br *runBranch) keptRecord(ctx context.Context) (string, error) {
	if br.kept != nil || br.opt.Keep == "" {
		return value(br.kept), nil
	}
	const into = "refs/reprise/record"
	kept, err := "", error(nil)
	if br.remote == nil {
		kept, err = br.keptHere(ctx)
	} else {
		_, err = br.talk(ctx, append(FetchArgs(), "--end-of-options", br.remote.fetch, "+"+br.keepRef()+":"+into)...)
		switch {
		case err == nil:
			var text []byte
			text, err = os.ReadFile(br.home(into))
			kept = strings.TrimSpace(string(text))
		case strings.Contains(stderrOf(err), "couldn't find remote ref"):
			err = nil
		}
	}
	if err == nil {
		br.kept = &kept
	}
	return kept, err
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// keepRef is where the record is kept.
func (br *runBranch) keepRef() string { return KeptRefs + br.opt.Keep }

// ReadFile returns the file at path as it is in commit, a full hash; one of the
// state folder that was taken off the branch as it was before that. The error
// wraps fs.ErrNotExist when there is no such commit or no such file in it.
func (br *runBranch) ReadFile(ctx context.Context, commit, path string) ([]byte, error) {
	data, err := br.gitDir.ReadFile(ctx, commit, path)
	if !errors.Is(err, fs.ErrNotExist) || !Under(path, br.opt.State) {
		return data, err
	}
	has, e := br.shelf, error(nil)
	if commit != br.tip || has == "" {
		has, e = br.shelfOf(ctx, commit)
	}
	if e == nil && has != "" && has != commit {
		return br.gitDir.ReadFile(ctx, has, path)
	}
	return nil, cmp.Or(e, err) // not both: where git failed, nobody knows whether there is such a file
}

// LogEntry is one commit.
type LogEntry struct {
	Commit   string // full hash
	Parents  []string
	Time     time.Time // of the committer, UTC
	Name     string    // of the author
	Email    string    // of the author
	Subject  string
	Body     string    // with the trailers
	Trailers []Trailer // in their order
}

// Trailer is a line such as "Reprise-Phase: design" at the end of a message.
type Trailer struct{ Key, Value string }

// logArgs are the arguments of git that list commits in an order, which is an option of git log.
// The span is a commit, or two with .. between them.
func logArgs(order, span string) []string {
	return []string{
		"log", "-z", order, "--no-color", "--no-show-signature", "--no-decorate",
		"--format=%H%x00%P%x00%cI%x00%an%x00%ae%x00%s%x00%b%x00%(trailers:only,unfold)", span, "--",
	}
}

// parseLog reads what git prints with logArgs.
func parseLog(out []byte) ([]LogEntry, error) {
	var entries []LogEntry
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 8; fields = fields[8:] {
		at, err := time.Parse(time.RFC3339, fields[2])
		if err != nil {
			return nil, err
		}
		entries = append(entries, LogEntry{
			Commit: fields[0], Parents: strings.Fields(fields[1]), Time: at.UTC(),
			Name: fields[3], Email: fields[4], Subject: fields[5], Body: strings.TrimSpace(fields[6]),
			Trailers: trailers(fields[7]),
		})
	}
	return entries, nil
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
