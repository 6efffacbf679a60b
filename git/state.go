package git

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"path"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// maxState is the size of the largest file of the state folder, in bytes.
const maxState = 64 << 20

// loadState reads what commit has in the state folder.
func (r *Repo) loadState(ctx context.Context, commit string) error {
	files, err := below(ctx, r.lookUp, commit, r.opt.State)
	if err == nil {
		r.state = files
	}
	return err
}

// records splits what git prints with -z.
func records(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// stateChanges compares the state folder with what tip has there, without git
// and whatever is ignored.
func (r *Repo) stateChanges() ([]Change, error) {
	var changes []Change
	seen := map[string]bool{}
	err := r.walkState(func(p string, info fs.FileInfo) error {
		seen[p] = true
		was, known := r.state[p]
		c := Change{Path: p, Kind: Added, Type: typeOf(info), Size: info.Size()}
		if path.Base(p) == ".git" {
			c.Type = Repository
		}
		if known {
			c.Was = typeOfMode(was.mode)
			if r.sameState(p, info, was) {
				return nil
			}
			c.Kind = changeKind(c.Was, c.Type)
		}
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", r.opt.State, err)
	}
	for p, was := range r.state {
		if !seen[p] {
			changes = append(changes, Change{Path: p, Kind: Deleted, Was: typeOfMode(was.mode)})
		}
	}
	return changes, nil
}

// walkState visits everything in the state folder that is not a folder, and
// repositories somebody made there. It follows no symbolic link.
func (r *Repo) walkState(visit func(p string, info fs.FileInfo) error) error {
	if beyond(r.top, r.opt.State+"/x") {
		return nil
	}
	return folders.Walk(r.top, r.opt.State, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && d.Name() != ".git" {
			return nil
		}
		info, err := r.top.Lstat(p)
		if err != nil {
			return err
		}
		if err := visit(p, info); err != nil {
			return err
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
}

// sameState says whether p is as in the commit. What cannot be read is not: the
// attempt to commit it says why.
func (r *Repo) sameState(p string, info fs.FileInfo, was entry) bool {
	if typeOf(info) != typeOfMode(was.mode) {
		return false
	}
	data, err := r.readState(p)
	return err == nil && r.blobID(data) == was.id
}

// readState reads a file that an agent may have put there: an ordinary file of
// bounded size with one name, never a link that leads elsewhere.
func (r *Repo) readState(p string) ([]byte, error) {
	if beyond(r.top, p) {
		return nil, fmt.Errorf("%s: a folder above it is a link or missing", p)
	}
	f, info, err := folders.Open(r.top, p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if sys, ok := info.Sys().(*syscall.Stat_t); ok && sys.Nlink > 1 {
		return nil, fmt.Errorf("%s is a second name (hard link) of another file: write it as a file of its own", p)
	}
	if info.Size() > maxState {
		return nil, fmt.Errorf("%s has %d bytes, at most %d are allowed in the state folder", p, info.Size(), maxState)
	}
	return io.ReadAll(io.LimitReader(f, maxState))
}

// blobID is the name git gives to a file with this content.
func (r *Repo) blobID(data []byte) string {
	var h hash.Hash = sha1.New()
	if r.src.sha256 {
		h = sha256.New()
	}
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

// syncIndex brings the state folder in the index up to tip. Commits of state
// leave the index alone, since writing it takes time in a large tree.
func (r *Repo) syncIndex(ctx context.Context) error {
	if r.dirty {
		if err := r.sweep(); err != nil {
			return err
		}
		if _, err := r.git(ctx, "read-tree", "--reset", r.tip); err != nil {
			return err
		}
		r.dirty = false
		clear(r.stale)
		return nil
	}
	if len(r.stale) == 0 {
		return nil
	}
	var info bytes.Buffer
	for p := range r.stale {
		if e, ok := r.state[p]; ok {
			fmt.Fprintf(&info, "%s %s\t%s\x00", e.mode, e.id, p)
		} else {
			fmt.Fprintf(&info, "0 %s\t%s\x00", r.zero(), p)
		}
	}
	if _, err := r.gitStdin(ctx, info.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return err
	}
	clear(r.stale)
	return nil
}

// zero is the hash that stands for nothing.
func (r *Repo) zero() string {
	if r.src.sha256 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}
