// Package loose is an object of git in a file of its own, as "Git Internals - Git
// Objects" in Pro Git describes it.
package loose

import (
	"bufio"
	"compress/zlib"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/git/objects"
)

// Path is where an object lies below a folder of objects.
func Path(folder, id string) string { return filepath.Join(folder, id[:2], id[2:]) }

// Get gives an object of a folder; one without a kind if it has no file there. One of
// more than limit bytes is a *objects.TooLarge.
func Get(folder, id string, limit int64) (objects.Object, error) {
	f, err := os.Open(Path(folder, id))
	if errors.Is(err, fs.ErrNotExist) {
		return objects.Object{}, nil
	}
	if err != nil {
		return objects.Object{}, err
	}
	defer f.Close()
	o, err := read(f, limit)
	o.ID = id
	return o, err
}

func read(f io.Reader, limit int64) (objects.Object, error) {
	inflated, err := zlib.NewReader(f)
	if err != nil {
		return objects.Object{}, err
	}
	r := bufio.NewReader(inflated)
	head, err := r.ReadString(0)
	if err != nil {
		return objects.Object{}, err
	}
	kind, length, _ := strings.Cut(strings.TrimSuffix(head, "\x00"), " ")
	size, err := strconv.ParseInt(length, 10, 64)
	switch {
	case err != nil || size < 0:
		return objects.Object{}, fmt.Errorf("it begins with %q", head)
	case limit != objects.Unlimited && size > limit:
		return objects.Object{}, &objects.TooLarge{Size: size}
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return objects.Object{}, err
	}
	return objects.Object{Kind: kind, Data: data}, nil
}

// Format is how the objects of a repository are named: by SHA-1 or by SHA-256.
type Format struct{ SHA256 bool }

// Name is the name of an object with this content.
func (f Format) Name(kind string, data []byte) string {
	var h hash.Hash = sha1.New()
	if f.SHA256 {
		h = sha256.New()
	}
	h.Write(head(kind, data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func head(kind string, data []byte) []byte { return fmt.Appendf(nil, "%s %d\x00", kind, len(data)) }

// Put writes an object to a folder, unless it has a file there, and gives its name.
// A file is there as a whole or not at all. What is left when this process is killed
// has a name by which git removes it later.
func (f Format) Put(folder, kind string, data []byte) (string, error) {
	id := f.Name(kind, data)
	to, now := Path(folder, id), time.Now()
	if os.Chtimes(to, now, now) == nil { // git removes old objects that no branch leads to
		return id, nil
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
		return "", err
	}
	part := filepath.Join(filepath.Dir(to), "tmp_obj_"+rand.Text())
	err := write(part, kind, data)
	if err == nil {
		err = os.Rename(part, to)
	}
	if err != nil {
		_ = os.Remove(part) // it may not be there
		return "", fmt.Errorf("write a %s to %s: %w", kind, folder, err)
	}
	return id, nil
}

// writers are kept for the next objects, since one takes a megabyte of memory.
var writers = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // that level there is
	return w
}}

func write(name, kind string, data []byte) error {
	out, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444)
	if err != nil {
		return err
	}
	w := writers.Get().(*zlib.Writer)
	defer writers.Put(w)
	w.Reset(out)
	for _, part := range [][]byte{head(kind, data), data} {
		if err == nil {
			_, err = w.Write(part)
		}
	}
	if err == nil {
		err = w.Close()
	}
	return errors.Join(err, out.Close())
}
