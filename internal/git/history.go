package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// Log lists the branch's commits that from lacks, newest first; "" for all. Of a merge it follows the first parent.
func (r *Repo) Log(ctx context.Context, from string) ([]LogEntry, error) {
	return r.log(ctx, from, "--first-parent")
}

// Ancestry is Log with everything that was merged.
func (r *Repo) Ancestry(ctx context.Context, from string) ([]LogEntry, error) {
	return r.log(ctx, from, "--topo-order")
}

// log lists the commits of the branch since one, or all; order is an option of git log.
func (r *Repo) log(ctx context.Context, from, order string) (entries []LogEntry, err error) {
	defer wrap(&err, "list the commits of %s", r.opt.Branch)
	span := r.tip
	if from != "" {
		if err := r.need(ctx, from); err != nil {
			return nil, err
		}
		span = from + ".." + r.tip
	}
	out, err := r.git(ctx, "log", "-z", order, "--no-color", "--no-show-signature", "--no-decorate",
		"--format=%H%x00%P%x00%s%x00%(trailers:only,unfold)", span, "--")
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 4; fields = fields[4:] {
		entries = append(entries, LogEntry{Commit: fields[0], Parents: strings.Fields(fields[1]), Subject: fields[2], Trailers: trailers(fields[3])})
	}
	return entries, err
}

// Holds reports whether any file of the last commit has a text, however lines end.
func (r *Repo) Holds(ctx context.Context, said string) (_ bool, err error) {
	defer wrap(&err, "look for a text in the last commit")
	wanted := text.UnixLines([]byte(said))
	lines := strings.FieldsFunc(string(wanted), func(c rune) bool { return c == '\n' })
	if len(lines) == 0 || bytes.IndexByte(wanted, 0) >= 0 {
		return false, errors.New("it is empty, or has a zero byte")
	}
	// On standard input, so that no list of processes shows the text.
	out, err := r.gitCall(ctx, call{Stdin: strings.Join(lines, "\n") + "\n", Args: []string{
		"grep", "--files-with-matches", "-z", "--text", "--fixed-strings", "--all-match", "--no-recurse-submodules", "-f", "-", r.tip, "--",
	}})
	if err != nil && exitCode(err) != 1 {
		return false, err
	}
	for _, name := range records(out) { // which have all the lines, in whatever order
		data, err := r.ReadFile(ctx, r.tip, strings.TrimPrefix(name, r.tip+":"))
		if err != nil {
			return false, err
		}
		if bytes.Contains(text.UnixLines(data), wanted) {
			return true, nil
		}
	}
	return false, nil
}

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
	if found, err := r.reads().objects(ctx, c.Commit+":"+r.opt.State); err != nil || found[0].Kind != "" {
		return false, err
	}
	return r.contains(ctx, r.shelf, c.Parents[0])
}

// SameWork reports whether two commits are the same but for the state folder.
func (r *Repo) SameWork(ctx context.Context, one, other string) (bool, error) {
	paths, err := r.between(ctx, one, other)
	return !slices.ContainsFunc(paths, func(p string) bool { return !Under(p, r.opt.State) }), err
}

// Code names what the tip has but for the state folder.
func (r *Repo) Code(ctx context.Context) (string, error) {
	return r.reads().work(ctx, r.tip, r.opt.State)
}

// keptRecord gives the commit that Options.Keep names, at the remote if any; "" for none. It is asked once a fetch.
func (r *Repo) keptRecord(ctx context.Context) (_ string, err error) {
	if r.keptKnown || r.opt.Keep == "" {
		return r.kept, nil
	}
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
	if commit == r.tip && Under(path, r.opt.State) {
		commit = r.Record()
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

// LogEntry is one commit.
type LogEntry struct {
	Commit   string // full hash
	Parents  []string
	Subject  string
	Trailers []Trailer // in their order
}

// Trailer is a line such as "Reprise-Phase: design" at the end of a message.
type Trailer struct{ Key, Value string }

func trailers(text string) (out []Trailer) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out = append(out, Trailer{Key: key, Value: strings.TrimSpace(value)})
		}
	}
	return out
}

// RecordTrailer names, in a message that takes the state folder off a branch, the commit that has it last.
const RecordTrailer = "Reprise-Record"

// KeptRefs begin the names under which the records of runs are kept.
const KeptRefs = "refs/reprise/records/"

// trailerLine is a trailer in a message.
var trailerLine = text.Pattern(`(?m)^` + RecordTrailer + `: ([0-9a-f]{40}|[0-9a-f]{64})\s*$`)

// recordNote gives the line that ends such a message.
func recordNote(commit string) string { return RecordTrailer + ": " + commit + "\n" }

// shelves find the state folder of a run that was taken off its branch: in the commit that a trailer names. Anybody
// can write a trailer, even in the title of a pull request. So one counts only if what it names is the parent of its
// commit, as where the folder is taken off, or in the history of the record that a remote keeps by name. Where there is
// such a record, it decides: a run is kept there before its folder leaves the branch.
type shelves struct {
	reader
	folder string
	// kept gives the record kept by name, or "": it leads on from the trailer's commit, which may not be here.
	kept func(ctx context.Context) (string, error)
	// own reports whether this machine itself has kept a commit by name, or one that leads on
	// from it; nil: what is kept is only known from this machine, and may be of an earlier run.
	own func(ctx context.Context, commit string) (bool, error)
}

// shelfDepth is how many commits back a trailer is looked for: people may have committed since.
const shelfDepth = 1000

// find gives the commit that has the folder: the given one, or what is kept and leads on from the newest trailer's,
// or else the commit before the one that names it; "" where there is none.
func (s shelves) find(ctx context.Context, commit string) (string, error) {
	if is, err := s.has(ctx, commit); is || err != nil {
		return commit, err
	}
	out, err := s.git(ctx, "log", "-z", "--first-parent", fmt.Sprintf("-n%d", shelfDepth), "--no-show-signature", "--no-decorate",
		"--format=%P%x00%(trailers:key="+RecordTrailer+")", commit, "--")
	if err != nil || !bytes.Contains(out, []byte(RecordTrailer)) {
		return "", err
	}
	kept, err := s.kept(ctx)
	if err == nil && kept != "" {
		var is bool
		if is, err = s.has(ctx, kept); !is {
			kept = ""
		}
	}
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 2; fields = fields[2:] {
		parent, _, _ := strings.Cut(fields[0], " ")
		for _, named := range trailerLine().FindAllStringSubmatch(fields[1], -1) {
			if err != nil {
				return "", err
			}
			if found, err := s.believed(ctx, parent, kept, named[1]); found != "" || err != nil {
				return found, err
			}
		}
	}
	return kept, err
}

// has reports whether a commit has the folder; one that is not here has not.
func (s shelves) has(ctx context.Context, commit string) (bool, error) {
	found, err := s.objects(ctx, commit+":"+s.folder)
	return err == nil && found[0].Kind == "tree", err
}

// believed gives where a trailer leads: to what is kept, if that goes on from what it names, else to that, if it
// comes right before. It is "" if the trailer proves nothing or leads to nothing that is here.
func (s shelves) believed(ctx context.Context, parent, kept, named string) (string, error) {
	if is, err := s.has(ctx, named); !is || err != nil {
		return "", err
	}
	if kept != "" {
		if leads, err := s.contains(ctx, kept, named); leads || err != nil {
			return kept, err
		}
	}
	if named != parent {
		return "", nil
	}
	if kept != "" && s.own != nil {
		if is, err := s.own(ctx, named); !is || err != nil {
			return "", err
		}
	}
	return named, nil
}

// Record is a file of a run's folder as a ref has it.
type Record struct {
	Ref
	Data []byte
	Err  error // why it cannot be read; wraps fs.ErrNotExist where there is none
}

// Records reads a file of many runs' folders, of each ref that is or lies below one of within; folderOf gives its
// folder, "" for refs of another kind. Three commands of git read all whose folder is at the tip, or was taken off there
// and is in the commit before; each that has gone on since needs more.
func (s *Source) Records(ctx context.Context, within []string, file string, folderOf func(ref string) string) (all []Record, err error) {
	listed, err := s.Refs(ctx, append(within, KeptRefs)...)
	if err != nil {
		return nil, err
	}
	kept, names := map[string]string{}, []string(nil)
	for _, ref := range listed {
		if strings.HasPrefix(ref.Name, KeptRefs) {
			kept[ref.Name] = ref.Commit
		}
		if folder := folderOf(ref.Name); folder != "" {
			all = append(all, Record{Ref: ref})
			names = append(names, ref.Commit, ref.Commit+":"+folder+"/"+file)
		}
	}
	tips := s.some(ctx, names)
	var asked []*Record
	var shelved []string
	for i := range all { // the commit that a tip names, if that comes right before it and is what is kept by name, if anything is
		r := &all[i]
		if tip := tips[2*i+1]; tip.Kind == "blob" {
			r.Data = tip.Data
			continue
		}
		before, held := "", kept[KeptRefs+path.Base(folderOf(r.Name))]
		_, parents, _ := strings.Cut(string(tips[2*i].Data), "\n")
		if m := trailerLine().FindStringSubmatch(parents); m != nil && strings.HasPrefix(parents, "parent "+m[1]) && cmp.Or(held, m[1]) == m[1] {
			before = m[1]
		}
		asked, shelved = append(asked, r), append(shelved, cmp.Or(before, r.Commit)+":"+folderOf(r.Name)+"/"+file)
	}
	for i, found := range s.some(ctx, shelved) {
		r := asked[i]
		if r.Data = found.Data; found.Kind != "blob" {
			commit := ""
			if commit, r.Err = s.Shelf(ctx, r.Commit, folderOf(r.Name)); r.Err == nil {
				r.Data, r.Err = s.reads().file(ctx, commit, folderOf(r.Name)+"/"+file)
			}
		}
	}
	return all, nil
}

// some gives those objects that can be read: none where one of them is broken.
func (s *Source) some(ctx context.Context, names []string) []object {
	found, err := s.reads().objects(ctx, names...)
	if err != nil {
		return make([]object, len(names))
	}
	return found
}
