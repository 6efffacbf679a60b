package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// stamp tells how a file was: no program can set when it was changed last.
type stamp struct {
	File    fileID
	Changed int64 // nanoseconds
}

// StateOf is a digest of all that lies in a folder. It is another one once anything there was changed, also if that was
// changed back some milliseconds later.
func StateOf(dir string) (string, error) {
	sum := sha256.New()
	disk, unknown := spaceOf(dir)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		changed, used, id := diskUse(info)
		_, _ = fmt.Fprintf(sum, "%q %v %v %v %v\n", name, info.Mode(), info.Size(), id, changed.UnixNano()) // never fails
		if unknown == nil && !disk.traceless || !info.Mode().IsRegular() || uint64(info.Size()) > used {
			return nil // one with holes leaves a trace once they are made
		}
		f, err := os.Open(name)
		if err == nil {
			defer f.Close() // opened for reading
			_, err = io.Copy(sum, f)
		}
		return err
	})
	return string(sum.Sum(nil)), err
}

// mirror makes one folder like another. What neither side has touched since the last time stays, so that it takes a look
// at each file and no copy. No link is followed.
type mirror struct {
	seen, now map[string][2]stamp // by path, how a file was in the clean home and in the other
	marks     bool                // the clean home is made like the other, and not the other like it
	takes     []string            // patterns of path.Match: what is taken; nil: all
	keeps     []string            // and what stays if it is nowhere else
	adds      bool                // what was changed where it goes to stays
	copied    bool
}

// renew makes a home like the clean one, or that like the home, and remembers in a file how it left what is in the two.
func (s *Sandbox) renew(ctx context.Context, home string, m mirror) error {
	from, to, file := s.clean(), home, home+".seen"
	if m.marks {
		from, to = to, from
	}
	if err := openFolders(filepath.Dir(from), from, filepath.Dir(to), to); err != nil {
		return err
	}
	data, _ := os.ReadFile(file) // without it, all is copied
	if disk, err := spaceOf(home); m.marks || m.adds || err == nil && !disk.traceless {
		_ = json.Unmarshal(data, &m.seen)
	}
	src, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer src.Close() // what is copied is closed by then
	dst, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer dst.Close() // as above
	m.now = map[string][2]stamp{}
	if err = errors.Join(os.RemoveAll(file), m.folder(ctx, src, dst, "")); err != nil { // of what is cut off nothing counts
		return err
	}
	if m.copied {
		time.Sleep(20 * time.Millisecond) // some systems count so coarsely that a change at once would not be seen
	}
	if data, err = json.Marshal(m.now); err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	return err
}

// CutOff reports whether the homes of checks in a folder, see Sandbox.Checks, were left while one was made like the other.
func CutOff(dir string) bool {
	return exists(filepath.Join(dir, CleanHome)) && !exists(filepath.Join(dir, checks+".seen"))
}

// folder makes a folder like another; src is nil where there is none, and only what is kept stays.
func (m *mirror) folder(ctx context.Context, src, dst *os.Root, at string) error {
	names := map[string]bool{}
	for _, root := range []*os.Root{src, dst} {
		if root == nil {
			continue
		}
		entries, err := folders.List(root, ".")
		if err != nil {
			return err
		}
		for _, e := range entries {
			names[e.Name()] = true
		}
	}
	for name := range names {
		if err := m.one(ctx, src, dst, name, path.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// one makes what has a name in dst like what has it in src; at is its path from the top.
func (m *mirror) one(ctx context.Context, src, dst *os.Root, name, at string) (err error) {
	var from fs.FileInfo // nil if it is not there, or not taken
	if above, below := leads(m.takes, at); src != nil && (above || below || m.takes == nil) {
		if from, _ = src.Lstat(name); from != nil && m.takes != nil && !below && !from.IsDir() {
			from = nil
		}
	}
	to, _ := dst.Lstat(name)
	above, below := leads(m.keeps, at)
	pair, folder := m.stamps(from, to), to != nil && to.IsDir()
	switch {
	case from == nil && (to == nil || below && (folder || to.Mode().IsRegular())):
		return nil
	case from != nil && from.IsDir(), from == nil && above && folder:
		return m.inner(ctx, src, dst, name, at, from, folder)
	case from != nil && to != nil && (pair == m.seen[at] || m.adds && pair[0] == m.seen[at][0]):
		m.now[at] = m.seen[at]
		return nil
	}
	m.copied = true
	if err = folders.Remove(dst, name); err != nil || from == nil {
		return err
	}
	if err = folders.Copy(ctx, src, name, dst, name); err == nil {
		from, _ = src.Lstat(name) // the copy may have unlocked it
		to, _ = dst.Lstat(name)   // nil if it is a socket or the like
		m.now[at] = m.stamps(from, to)
	}
	return err
}

// inner goes on in a folder that has a name; from is nil where there is none in src, and there says whether there is one in
// dst.
func (m *mirror) inner(ctx context.Context, src, dst *os.Root, name, at string, from fs.FileInfo, there bool) (err error) {
	if !there {
		if err = folders.Remove(dst, name); err == nil {
			err = dst.Mkdir(name, 0o700)
		}
	}
	folders.UnlockAbove(dst, name+"/x")
	to, err2 := dst.OpenRoot(name)
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	defer to.Close() // what is copied is closed by then
	if from == nil {
		return m.folder(ctx, nil, to, at)
	}
	folders.UnlockAbove(src, name+"/x")
	if src, err = src.OpenRoot(name); err != nil {
		return err
	}
	defer src.Close() // as above
	return errors.Join(to.Chmod(".", from.Mode().Perm()|0o700), m.folder(ctx, src, to, at))
}

// leads says whether a path is above something that patterns of path.Match name, or is that or below it.
func leads(patterns []string, at string) (above, below bool) {
	have := strings.Split(at, "/")
	for _, pattern := range patterns {
		parts := strings.Split(pattern, "/")
		n := min(len(parts), len(have))
		if ok, _ := path.Match(path.Join(parts[:n]...), path.Join(have[:n]...)); ok {
			above, below = above || n < len(parts), below || n == len(parts)
		}
	}
	return above, below
}

// stamps tells how two files are; nil stands for one that is not there.
func (m *mirror) stamps(from, to fs.FileInfo) (pair [2]stamp) {
	if m.marks {
		from, to = to, from
	}
	for i, info := range []fs.FileInfo{from, to} {
		if info != nil {
			changed, _, id := diskUse(info)
			pair[i] = stamp{id, changed.UnixNano()}
		}
	}
	return pair
}

// caches are what programs that may run commands find of the clean home: what tools have
// downloaded and built, and nothing that tells them what to do.
func caches() []string {
	return []string{
		".cache", "go/pkg/mod", ".npm/_cacache", ".local/share/pnpm/store", ".cargo/registry", ".cargo/git",
		".m2/repository", ".gradle/caches", ".nuget/packages",
	}
}
